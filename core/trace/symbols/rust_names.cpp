#include "core/trace/symbols/rust_names.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/trace/symbols/rust_name_walk.hpp"
#include "core/trace/symbols/unicode_names.hpp"

namespace memsweep::trace {
namespace {

constexpr std::array<std::pair<char, std::string_view>, 21> basic_types{
    {{'a', "i8"},    {'b', "bool"},  {'c', "char"}, {'d', "f64"}, {'e', "str"},  {'f', "f32"},  {'h', "u8"},
     {'i', "isize"}, {'j', "usize"}, {'l', "i32"},  {'m', "u32"}, {'n', "i128"}, {'o', "u128"}, {'p', "_"},
     {'s', "i16"},   {'t', "u16"},   {'u', "()"},   {'v', "..."}, {'x', "i64"},  {'y', "u64"},  {'z', "!"}}};

class RustName : RustNameWalk {
  public:
    explicit RustName(std::string_view text) : RustNameWalk{text} {}

    std::optional<std::string> read()
    {
        path(true);
        if (is_upper(peek())) {  // the crate that made this instance
            silently([&] { path(false); });
        }
        const std::string_view suffix = text_.substr(at_);
        if (has_failed_ || (!suffix.empty() && suffix.front() != '.' && suffix.front() != '$')) {
            return std::nullopt;
        }
        if (!suffix.starts_with(".llvm.")) {
            write(suffix);
        }
        return std::move(written_);
    }

  private:
    void path(bool is_value)
    {
        within([&] { path_of(next(), is_value); });
    }
    void path_of(char tag, bool is_value)
    {
        switch (tag) {
        case 'C':
            optional_base_62('s');
            return write(identifier());
        case 'N':
            return nested_path(is_value);
        case 'M':
        case 'X':
        case 'Y':
            if (tag != 'Y') {
                silently([&] {
                    optional_base_62('s');
                    path(false);
                });
            }
            write("<");
            type();
            if (tag != 'M') {
                write(" as ");
                path(false);
            }
            return write(">");
        case 'I':
            path(is_value);
            write(is_value ? "::<" : "<");
            list(", ", [&] { generic_argument(); });
            return write(">");
        case 'B':
            return back([&] { path(is_value); });
        default:
            return fail();
        }
    }
    void nested_path(bool is_value)
    {
        const char space = next();
        path(is_value);
        const std::uint64_t number = optional_base_62('s');
        const Identifier name = identifier();
        if (!is_upper(space)) {
            has_failed_ = has_failed_ || space < 'a' || space > 'z';
            write(name.text.empty() ? "" : "::");
            return write(name);
        }
        write("::{");
        write(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string_view{&space, 1});
        if (!name.text.empty()) {
            write(":");
            write(name);
        }
        write("#");
        write(number);
        write("}");
    }

    void generic_argument()
    {
        if (take('L')) {
            lifetime(base_62());
        } else if (take('K')) {
            constant(false);
        } else {
            type();
        }
    }
    void lifetime(std::uint64_t number)
    {
        if (number > bound_lifetimes_) {
            return fail();
        }
        constexpr std::uint64_t letters = 26;
        const std::uint64_t depth = bound_lifetimes_ - number;
        write("'");
        if (number == 0) {
            write("_");
        } else if (depth < letters) {
            const char letter = static_cast<char>('a' + depth);
            write(std::string_view{&letter, 1});
        } else {
            write("_");
            write(depth);
        }
    }
    // What binds lifetimes, and then what read() reads.
    template <typename Read>
    void binder(Read read)
    {
        const std::uint64_t bound = optional_base_62('G');
        if (bound > most_written) {
            return fail();
        }
        write(bound == 0 ? "" : "for<");
        for (std::uint64_t i = 0; i < bound; ++i) {
            write(i == 0 ? "" : ", ");
            ++bound_lifetimes_;
            lifetime(1);
        }
        write(bound == 0 ? "" : "> ");
        read();
        bound_lifetimes_ -= bound;
    }

    void type()
    {
        const char tag = next();
        const auto* const basic = std::ranges::find(basic_types, tag, &std::pair<char, std::string_view>::first);
        if (tag != '\0' && basic != basic_types.end()) {
            return write(basic->second);
        }
        within([&] { type_of(tag); });
    }
    void type_of(char tag)
    {
        switch (tag) {
        case 'R':
        case 'Q':
            write("&");
            if (take('L')) {
                if (const std::uint64_t number = base_62(); number != 0) {
                    lifetime(number);
                    write(" ");
                }
            }
            write(tag == 'Q' ? "mut " : "");
            return type();
        case 'P':
        case 'O':
            write(tag == 'O' ? "*mut " : "*const ");
            return type();
        case 'A':
        case 'S':
            write("[");
            type();
            if (tag == 'A') {
                write("; ");
                constant(true);
            }
            return write("]");
        case 'T':
            write("(");
            write(list(", ", [&] { type(); }) == 1 ? ",)" : ")");
            return;
        case 'F':
            return binder([&] { function_type(); });
        case 'D':
            write("dyn ");
            binder([&] { list(" + ", [&] { trait(); }); });
            if (!take('L')) {
                return fail();
            }
            if (const std::uint64_t number = base_62(); number != 0) {
                write(" + ");
                lifetime(number);
            }
            return;
        case 'B':
            return back([&] { type(); });
        default:
            at_ -= has_failed_ ? 0 : 1;
            return path(false);
        }
    }
    void function_type()
    {
        write(take('U') ? "unsafe " : "");
        if (take('K')) {
            write("extern \"");
            if (take('C')) {
                write("C");
            } else {
                std::string name{identifier().text};
                std::ranges::replace(name, '_', '-');
                write(name);
            }
            write("\" ");
        }
        write("fn(");
        list(", ", [&] { type(); });
        write(")");
        if (!take('u')) {
            write(" -> ");
            type();
        }
    }
    void trait()
    {
        bool is_open = open_path();
        while (take('p')) {
            write(std::exchange(is_open, true) ? ", " : "<");
            write(identifier());
            write(" = ");
            type();
        }
        write(is_open ? ">" : "");
    }
    // True: its generic arguments are not closed yet.
    bool open_path()
    {
        bool is_open = false;
        if (take('B')) {
            back([&] { is_open = open_path(); });
        } else if (take('I')) {
            path(false);
            write("<");
            list(", ", [&] { generic_argument(); });
            is_open = true;
        } else {
            path(false);
        }
        return is_open;
    }

    std::string_view hexadecimal()
    {
        const std::size_t from = at_;
        while (is_digit(peek()) || (peek() >= 'a' && peek() <= 'f')) {
            ++at_;
        }
        const std::string_view digits = text_.substr(from, at_ - from);
        if (!take('_')) {
            fail();
            return {};
        }
        return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
    }
    static std::uint64_t value_of(std::string_view digits)
    {
        std::uint64_t value = 0;
        for (const char digit : digits) {
            value = value << 4U | static_cast<std::uint64_t>(is_digit(digit) ? digit - '0' : digit - 'a' + 10);
        }
        return value;
    }
    void whole_number()
    {
        constexpr std::size_t digits_of_a_word = 16;
        const std::string_view digits = hexadecimal();
        if (digits.size() <= digits_of_a_word) {
            return write(value_of(digits));
        }
        write("0x");
        write(digits);
    }
    void character(std::uint64_t code, char quote)
    {
        if (!is_character(code)) {
            return fail();
        }
        std::string text;
        if (code == static_cast<std::uint64_t>(quote) || code == '\\') {
            text += '\\';
        }
        if (code < ' ' || code == 0x7F) {
            constexpr std::string_view digits = "0123456789abcdef";
            text += "\\u{";
            text += code < 16 ? std::string_view{} : digits.substr(code >> 4U, 1);
            text += digits[code & 15U];
            text += '}';
        } else {
            append_character(text, static_cast<std::uint32_t>(code));
        }
        write(text);
    }
    // Bytes of UTF-8, two digits each.
    void text_constant()
    {
        const std::size_t from = at_;
        hexadecimal();
        const std::string_view digits = text_.substr(from, has_failed_ ? 0 : at_ - 1 - from);
        if (digits.size() % 2 != 0) {
            return fail();
        }
        write("\"");
        std::string bytes;
        for (std::size_t i = 0; i < digits.size(); i += 2) {
            bytes += static_cast<char>(value_of(digits.substr(i, 2)));
        }
        for (const char byte : bytes) {
            const auto code = static_cast<unsigned char>(byte);
            if (code < 0x80) {
                character(code, '"');
            } else {
                write(std::string_view{&byte, 1});
            }
        }
        write("\"");
    }

    // Where it does not stand in an expression, all but a plain number or text has braces around it.
    void constant(bool is_within)
    {
        within([&] { constant_of(next(), is_within); });
    }
    void constant_of(char tag, bool is_within)
    {
        constexpr std::string_view numbers = "htmyojaslxni";
        constexpr std::string_view signed_numbers = "aslxni";
        if (tag != '\0' && numbers.find(tag) != std::string_view::npos) {
            write(signed_numbers.find(tag) != std::string_view::npos && take('n') ? "-" : "");
            return whole_number();
        }
        switch (tag) {
        case 'p':
            return write("_");
        case 'b': {
            const std::string_view digits = hexadecimal();
            has_failed_ = has_failed_ || (!digits.empty() && digits != "1");
            return write(digits.empty() ? "false" : "true");
        }
        case 'c': {
            const std::string_view digits = hexadecimal();
            write("'");
            character(digits.size() > 6 ? UINT64_MAX : value_of(digits), '\'');
            return write("'");
        }
        case 'B':
            return back([&] { constant(is_within); });
        case 'R':
            if (take('e')) {
                return text_constant();
            }
            break;
        default:
            break;
        }
        write(is_within ? "" : "{");
        composite_constant(tag);
        write(is_within ? "" : "}");
    }
    void composite_constant(char tag)
    {
        const auto part = [&] { constant(true); };
        switch (tag) {
        case 'e':
            write("*");
            return text_constant();
        case 'R':
        case 'Q':
            write(tag == 'Q' ? "&mut " : "&");
            return part();
        case 'A':
            write("[");
            list(", ", part);
            return write("]");
        case 'T':
            write("(");
            write(list(", ", part) == 1 ? ",)" : ")");
            return;
        case 'V':
            path(true);
            return fields(next());
        default:
            return fail();
        }
    }
    void fields(char tag)
    {
        if (tag == 'T') {
            write("(");
            list(", ", [&] { constant(true); });
            write(")");
        } else if (tag == 'S') {
            write(" { ");
            list(", ", [&] {
                optional_base_62('s');
                write(identifier());
                write(": ");
                constant(true);
            });
            write(" }");
        } else if (tag != 'U') {
            fail();
        }
    }

    std::uint64_t bound_lifetimes_{};
};

}  // namespace

std::optional<std::string> rust_name(std::string_view mangled)
{
    constexpr std::string_view beginning = "_R";
    const auto is_plain = [](char sign) { return sign > ' ' && sign < '\x7F'; };
    if (!mangled.starts_with(beginning) || !std::ranges::all_of(mangled, is_plain)) {
        return std::nullopt;
    }
    return RustName{mangled.substr(beginning.size())}.read();
}

}  // namespace memsweep::trace
