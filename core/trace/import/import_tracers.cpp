// Calls of allocation functions as tracers print them: "malloc(16) = 0x4A46040" (valgrind, ltrace), and
// "@ caller + 0x55da66fe42a0 0x10" (glibc's mtrace).
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "core/base/checked.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

enum class CallShape { malloc, calloc, realloc, reallocarray, memalign, free, posix_memalign };

struct TracedFunction {
    std::string_view name;
    CallShape shape;
};

constexpr std::array traced_functions{
    TracedFunction{"malloc", CallShape::malloc},
    TracedFunction{"calloc", CallShape::calloc},
    TracedFunction{"realloc", CallShape::realloc},
    TracedFunction{"reallocarray", CallShape::reallocarray},
    TracedFunction{"memalign", CallShape::memalign},
    TracedFunction{"aligned_alloc", CallShape::memalign},
    TracedFunction{"valloc", CallShape::malloc},
    TracedFunction{"pvalloc", CallShape::malloc},
    TracedFunction{"posix_memalign", CallShape::posix_memalign},
    TracedFunction{"free", CallShape::free},
    TracedFunction{"cfree", CallShape::free},
    TracedFunction{"_Znwm", CallShape::malloc},
    TracedFunction{"_Znam", CallShape::malloc},
    TracedFunction{"_ZnwmRKSt9nothrow_t", CallShape::malloc},
    TracedFunction{"_ZnamRKSt9nothrow_t", CallShape::malloc},
    TracedFunction{"_ZdlPv", CallShape::free},
    TracedFunction{"_ZdaPv", CallShape::free},
    TracedFunction{"_ZdlPvm", CallShape::free},
    TracedFunction{"_ZdaPvm", CallShape::free},
};

// The last call of an allocation function in a text: tracers print one call inside another.
struct TracedCall {
    const TracedFunction* function{};  // nullptr: there is none
    std::string_view rest;             // behind the opening parenthesis
};

TracedCall find_call(std::string_view text)
{
    const auto is_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    TracedCall found;
    for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1)) {
        std::size_t begin = open;
        while (begin > 0 && is_word(text[begin - 1])) {
            --begin;
        }
        const std::string_view name = text.substr(begin, open - begin);
        const auto* const function = std::ranges::find(traced_functions, name, &TracedFunction::name);
        if (function != traced_functions.end()) {
            found = {function, text.substr(open + 1)};
        }
    }
    return found;
}

// Sizes are decimal, also behind a word: "al 64, size 100".
std::optional<std::uint64_t> size_in(std::string_view text)
{
    text = trimmed(text);
    return parse_number(take_last_word(text));
}

std::optional<std::uint64_t> product(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b)
{
    return a && b ? base::checked_mul(*a, *b) : std::nullopt;
}

// These fill in kind, addresses and sizes of the event; false where the text of the call cannot be read.
bool read_allocation(Event& event, EventKind kind, std::optional<std::uint64_t> size, std::string_view result)
{
    const auto address = parse_pointer(result);
    if (!size || !address) {
        return false;
    }
    event.kind = *address == 0 && *size != 0 ? EventKind::failed_alloc : kind;
    event.address = *address;
    event.size = *size;
    return true;
}

bool read_reallocation(Event& event, std::string_view old, std::optional<std::uint64_t> size, std::string_view result)
{
    const auto old_address = parse_pointer(trimmed(old));
    if (!old_address) {
        return false;
    }
    if (*old_address != 0 && size == std::optional<std::uint64_t>{0} && parse_pointer(result).value_or(0) == 0) {
        event.kind = EventKind::realloc;
        event.old_address = *old_address;
        return true;
    }
    const bool good = read_allocation(event, EventKind::realloc, size, result);
    event.old_address = event.kind == EventKind::realloc ? *old_address : 0;
    return good;
}

bool read_call(Event& event, CallShape shape, std::string_view arguments, std::string_view result)
{
    const std::string_view first = take_until(arguments, ',');
    switch (shape) {
    case CallShape::malloc:
        return read_allocation(event, EventKind::malloc, size_in(first), result);
    case CallShape::calloc:
        return read_allocation(event, EventKind::calloc, product(size_in(first), size_in(arguments)), result);
    case CallShape::realloc:
        return read_reallocation(event, first, size_in(arguments), result);
    case CallShape::reallocarray: {
        const std::string_view count = take_until(arguments, ',');
        return read_reallocation(event, first, product(size_in(count), size_in(arguments)), result);
    }
    case CallShape::memalign:
        event.alignment = size_in(first).value_or(1);
        return read_allocation(event, EventKind::aligned_alloc, size_in(arguments), result);
    case CallShape::posix_memalign:
        return false;  // it returns its block through memory that no tracer prints
    case CallShape::free:
        break;
    }
    const auto address = parse_pointer(trimmed(first));
    event.kind = EventKind::free;
    event.address = address.value_or(0);
    return address.has_value();
}

// `rest`: "16) = 0x4A46040". Returns why the call is bad, or nullptr.
const char* add_call(ImportSink& sink, std::uint32_t process, CallShape shape, std::string_view rest, bool has_result)
{
    const std::size_t close = rest.find(')', has_result && rest.starts_with("(nil)") ? 5 : 0);
    const std::size_t equals = rest.find('=', close == std::string_view::npos ? 0 : close);
    const bool is_whole = close != std::string_view::npos && (!has_result || equals != std::string_view::npos);
    const std::string_view result = equals == std::string_view::npos ? std::string_view{} : rest.substr(equals + 1);
    Event event{.process = process};
    if (!is_whole || !read_call(event, shape, rest.substr(0, close), trimmed(result))) {
        return "a call whose arguments or result cannot be read";
    }
    if (event.kind != EventKind::free || event.address != 0) {
        sink.add(event);
    }
    return nullptr;
}

constexpr const char* no_calls = "no call of an allocation function";

bool is_valgrind(std::string_view head)
{
    return has_line_with(head, "--", "-- malloc(") || has_line_with(head, "==", "alloc") ||
           has_line_with(head, "==", "Memcheck") || has_line_with(head, "--", "alloc(");
}

// "--PID-- malloc(16) = 0x4A46040"; other lines are those of valgrind and of the program.
class ValgrindLines {
  public:
    ValgrindLines(ImportSink& sink, const ImportOptions& /*options*/) : sink_{&sink} {}

    const char* add(std::string_view line)
    {
        const std::size_t end = line.starts_with("--") ? line.find("-- ", 2) : std::string_view::npos;
        const auto process = end == std::string_view::npos ? std::nullopt : parse_number(line.substr(2, end - 2));
        const TracedCall call = process ? find_call(line) : TracedCall{};
        has_calls_ = has_calls_ || call.function != nullptr;
        return call.function == nullptr
                   ? nullptr
                   : add_call(*sink_, static_cast<std::uint32_t>(*process), call.function->shape, call.rest, false);
    }
    const char* finish() const { return has_calls_ ? nullptr : no_calls; }

  private:
    ImportSink* sink_;
    bool has_calls_{};
};

bool is_ltrace(std::string_view head)
{
    return has_line_with(head, "", "malloc(") && has_line_with(head, "", ") ");
}

// "PID object->malloc(16) = 0x55da66fe42a0"; a call that another thread interrupts comes in two lines.
class LtraceLines {
  public:
    LtraceLines(ImportSink& sink, const ImportOptions& /*options*/) : sink_{&sink} {}

    const char* add(std::string_view line)
    {
        const std::uint32_t process = process_of(line);
        if (const std::size_t resumed = line.find(" resumed>"); resumed != std::string_view::npos) {
            return finish_call(process, line.substr(resumed + 9));
        }
        const TracedCall call = find_call(line);
        if (call.function == nullptr) {
            return nullptr;
        }
        has_calls_ = true;
        if (const std::size_t cut = call.rest.find("<unfinished"); cut != std::string_view::npos) {
            unfinished_[process] = {call.function->shape, std::string{call.rest.substr(0, cut)}};
            return nullptr;
        }
        return add_call(*sink_, process, call.function->shape, call.rest, true);
    }
    const char* finish() const
    {
        return !has_calls_            ? no_calls
               : !unfinished_.empty() ? "the log ends within a call: a line without its resumed one"
                                      : nullptr;
    }

  private:
    struct Unfinished {
        CallShape shape{};
        std::string arguments;
    };

    static std::uint32_t process_of(std::string_view line)
    {
        line = trimmed(line);
        if (line.starts_with("[pid ")) {
            line.remove_prefix(5);
        }
        const std::string_view digits = line.substr(0, line.find_first_not_of("0123456789"));
        return static_cast<std::uint32_t>(parse_number(digits).value_or(0));
    }

    const char* finish_call(std::uint32_t process, std::string_view rest)
    {
        const auto begun = unfinished_.extract(process);
        if (begun.empty()) {
            return nullptr;  // of a call that allocates nothing
        }
        const auto& [shape, arguments] = begun.mapped();
        return add_call(*sink_, process, shape, arguments + std::string{rest}, true);
    }

    ImportSink* sink_;
    std::map<std::uint32_t, Unfinished> unfinished_;
    bool has_calls_{};
};

bool is_mtrace(std::string_view head)
{
    return head.starts_with("= Start") || has_line_with(head, "@ ", " + 0x") || has_line_with(head, "+ 0x", " 0x");
}

// "@ caller op operands": the caller may contain blanks, so lines are read from their end.
class MtraceLines {
  public:
    MtraceLines(ImportSink& sink, const ImportOptions& /*options*/) : sink_{&sink} {}

    const char* add(std::string_view line)
    {
        const bool was_within = old_address_.has_value();
        const char* const reason = add_operation(trimmed(line));
        if (was_within && old_address_ && !trimmed(line).empty()) {
            old_address_ = begins_realloc_ ? old_address_ : std::nullopt;
            return reason != nullptr ? reason : "the realloc of the line before lacks its second line";
        }
        return reason;
    }
    const char* finish() const { return old_address_ ? "the log ends within a realloc" : nullptr; }
    static bool is_whole(std::string_view line) { return line == "= End"; }

  private:
    const char* add_operation(std::string_view rest)
    {
        begins_realloc_ = false;
        if (rest.empty() || rest.starts_with("= ")) {
            return nullptr;
        }
        const std::string_view last = take_last_word(rest);
        const std::string_view middle = take_last_word(rest);
        if (middle == "-" || middle == "<") {
            return one_operand(middle.front(), parse_pointer(last));
        }
        const std::string_view operation = take_last_word(rest);
        if (operation == "+" || operation == ">" || operation == "!") {
            return two_operands(operation.front(), parse_pointer(middle), parse_pointer(last));
        }
        return "not a line of mtrace";
    }
    const char* one_operand(char operation, std::optional<std::uint64_t> address)
    {
        if (!address) {
            return "invalid pointer";
        }
        if (operation == '<') {
            old_address_ = address;  // the new address follows in the next line
            begins_realloc_ = true;
        } else {
            sink_->add({.kind = EventKind::free, .address = *address});
        }
        return nullptr;
    }
    const char* two_operands(char operation, std::optional<std::uint64_t> address, std::optional<std::uint64_t> size)
    {
        if (!address || !size) {
            return "invalid pointer or size";
        }
        if (operation == '!' || (*address == 0 && *size != 0)) {
            sink_->add({.kind = EventKind::failed_alloc, .size = *size});
        } else if (operation == '+') {
            sink_->add({.kind = EventKind::malloc, .address = *address, .size = *size});
        } else if (!old_address_) {
            return "a realloc without its first line";
        } else {
            sink_->add({.kind = EventKind::realloc, .address = *address, .old_address = *old_address_, .size = *size});
            old_address_.reset();
        }
        return nullptr;
    }

    ImportSink* sink_;
    std::optional<std::uint64_t> old_address_;
    bool begins_realloc_{};
};

}  // namespace

constinit const ImportFormat valgrind_format{"valgrind", "valgrind --trace-malloc=yes", 0, is_valgrind,
                                             import_lines<ValgrindLines>};
constinit const ImportFormat ltrace_format{"ltrace", "ltrace -f -e malloc+free+calloc+realloc", 0, is_ltrace,
                                           import_lines<LtraceLines>};
constinit const ImportFormat mtrace_format{"mtrace", "glibc's mtrace(), text", 0, is_mtrace, import_lines<MtraceLines>};

}  // namespace memsweep::trace
