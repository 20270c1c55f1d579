// Reads a mangled name of Rust, and writes the readable name at the same time. After a failure, nothing more is read or
// written.
//
// Memory   the written text, at most most_written bytes; the stack for up to most_nested levels of nesting.
// Threads  one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/trace/symbols/unicode_names.hpp"

namespace memsweep::trace {

class RustNameWalk {
  protected:
    static constexpr unsigned most_nested = 128;
    static constexpr std::size_t most_written = 64 << 10;
    static constexpr unsigned most_parts = 64 << 10;  // limit on the parts that are read, even if they are not written

    explicit RustNameWalk(std::string_view text) : text_{text} {}

    struct Identifier {
        std::string_view text;
        bool is_punycode{};
    };

    static bool is_upper(char sign) { return sign >= 'A' && sign <= 'Z'; }
    static bool is_digit(char sign) { return sign >= '0' && sign <= '9'; }

    [[nodiscard]] char peek() const { return has_failed_ || at_ == text_.size() ? '\0' : text_[at_]; }
    bool take(char sign)
    {
        const bool is_it = peek() == sign && sign != '\0';
        at_ += is_it ? 1 : 0;
        return is_it;
    }
    char next()
    {
        const char sign = peek();
        has_failed_ = has_failed_ || sign == '\0';
        at_ += has_failed_ ? 0 : 1;
        return sign;
    }
    void fail() { has_failed_ = true; }

    void write(std::string_view text)
    {
        if (has_failed_ || silent_ != 0) {
            return;
        }
        has_failed_ = written_.size() + text.size() > most_written;
        written_ += has_failed_ ? std::string_view{} : text;
    }
    void write(std::uint64_t number) { write(std::to_string(number)); }

    template <typename Read>
    void silently(Read read)
    {
        ++silent_;
        read();
        --silent_;
    }
    // Calls read() for a part that is nested in the current part. Fails if parts are nested too deep, or if there are
    // too many parts.
    template <typename Read>
    void within(Read read)
    {
        has_failed_ = has_failed_ || nested_ == most_nested || ++parts_ > most_parts;
        if (!has_failed_) {
            ++nested_;
            read();
            --nested_;
        }
    }
    // Reads a list up to its end, 'E'. Returns how many items it has.
    template <typename Read>
    unsigned list(std::string_view separator, Read read)
    {
        unsigned count = 0;
        while (!has_failed_ && !take('E')) {
            write(count++ == 0 ? std::string_view{} : separator);
            read();
        }
        return count;
    }
    template <typename Read>
    void back(Read read)
    {
        const std::size_t own = at_ - 1;
        const std::uint64_t place = base_62();
        if (has_failed_ || place >= own) {
            return fail();
        }
        if (silent_ == 0) {
            const std::size_t behind = std::exchange(at_, place);
            within(read);
            at_ = behind;
        }
    }

    std::uint64_t base_62()
    {
        if (take('_')) {
            return 0;
        }
        std::uint64_t number = 0;
        while (!has_failed_ && !take('_')) {
            const char sign = next();
            const int digit = is_digit(sign)               ? sign - '0'
                              : sign >= 'a' && sign <= 'z' ? sign - 'a' + 10
                              : is_upper(sign)             ? sign - 'A' + 36
                                                           : -1;
            constexpr std::uint64_t most = UINT64_MAX - 2;  // because 1 is added to the number twice
            if (digit < 0 || number > (most - static_cast<std::uint64_t>(digit)) / 62) {
                fail();
                return 0;
            }
            number = number * 62 + static_cast<std::uint64_t>(digit);
        }
        return number + 1;
    }
    // Returns the number behind `tag`, plus 1. 0: the next character is not `tag`.
    std::uint64_t optional_base_62(char tag) { return take(tag) ? base_62() + 1 : 0; }

    Identifier identifier()
    {
        const bool is_punycode = take('u');
        std::size_t length = 0;
        if (!is_digit(peek())) {
            fail();
        } else if (!take('0')) {
            while (is_digit(peek()) && length <= text_.size()) {
                length = length * 10 + static_cast<std::size_t>(next() - '0');
            }
        }
        take('_');
        if (has_failed_ || length > text_.size() - at_) {
            fail();
            return {};
        }
        const std::string_view text = text_.substr(at_, length);
        at_ += length;
        return {text, is_punycode};
    }
    void write(const Identifier& name)
    {
        if (!name.is_punycode) {
            return write(name.text);
        }
        std::string plain;
        if (!append_punycode(plain, name.text)) {
            return fail();
        }
        write(plain);
    }

    std::string_view text_;
    std::size_t at_{};
    std::string written_;
    bool has_failed_{};
    unsigned silent_{};
    unsigned nested_{};
    unsigned parts_{};
};

}  // namespace memsweep::trace
