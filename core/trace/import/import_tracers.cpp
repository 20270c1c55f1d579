// Calls of allocation functions as tracers print them: "malloc(16) = 0x4A46040", of valgrind and of ltrace.
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

// Sizes are decimal, also behind a word: "al 64, size 100".
std::optional<std::uint64_t> size_in(std::string_view text)
{
    text = trimmed(text);
    return parse_number(take_last_word(text));
}

// none: not a call of an allocation function. bad: one whose text cannot be read.
enum class CallParse { none, event, bad };

CallParse allocation(Event& event, EventKind kind, std::optional<std::uint64_t> size, std::string_view result)
{
    const auto address = parse_pointer(result);
    if (!size || !address) {
        return CallParse::bad;
    }
    event.kind = *address == 0 && *size != 0 ? EventKind::failed_alloc : kind;
    event.address = *address;
    event.size = *size;
    return CallParse::event;
}

CallParse reallocation(Event& event, std::string_view old, std::optional<std::uint64_t> size, std::string_view result)
{
    const auto old_address = parse_pointer(trimmed(old));
    if (!old_address) {
        return CallParse::bad;
    }
    if (*old_address != 0 && size == std::optional<std::uint64_t>{0} && parse_pointer(result).value_or(0) == 0) {
        event.kind = EventKind::realloc;
        event.old_address = *old_address;
        return CallParse::event;
    }
    const CallParse parsed = allocation(event, EventKind::realloc, size, result);
    event.old_address = event.kind == EventKind::realloc ? *old_address : 0;
    return parsed;
}

std::optional<std::uint64_t> product(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b)
{
    return a && b ? base::checked_mul(*a, *b) : std::nullopt;
}

// The last name( of an allocation function in a text: tracers print one call inside another.
struct CallPlace {
    std::size_t begin{std::string_view::npos};
    std::string_view name;
};

CallPlace find_call(std::string_view text)
{
    CallPlace found;
    for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1)) {
        std::size_t begin = open;
        const auto is_word = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        };
        while (begin > 0 && is_word(text[begin - 1])) {
            --begin;
        }
        const std::string_view name = text.substr(begin, open - begin);
        if (std::ranges::find(traced_functions, name, &TracedFunction::name) != traced_functions.end()) {
            found = {begin, name};
        }
    }
    return found;
}

// Fills in kind, addresses and sizes of the event.
CallParse parse_call(std::string_view name, std::string_view arguments, std::string_view result, Event& event)
{
    const auto* const function = std::ranges::find(traced_functions, name, &TracedFunction::name);
    if (function == traced_functions.end()) {
        return CallParse::none;
    }
    result = trimmed(result);
    std::string_view rest = arguments;
    const std::string_view first = take_until(rest, ',');
    switch (function->shape) {
    case CallShape::malloc:
        return allocation(event, EventKind::malloc, size_in(first), result);
    case CallShape::calloc:
        return allocation(event, EventKind::calloc, product(size_in(first), size_in(rest)), result);
    case CallShape::realloc:
        return reallocation(event, first, size_in(rest), result);
    case CallShape::reallocarray: {
        const std::string_view count = take_until(rest, ',');
        return reallocation(event, first, product(size_in(count), size_in(rest)), result);
    }
    case CallShape::memalign:
        event.alignment = size_in(first).value_or(1);
        return allocation(event, EventKind::aligned_alloc, size_in(rest), result);
    case CallShape::posix_memalign:
        return CallParse::bad;  // it returns its block through memory that no tracer prints
    case CallShape::free:
        break;
    }
    const auto address = parse_pointer(trimmed(first));
    event.kind = EventKind::free;
    event.address = address.value_or(0);
    return address ? CallParse::event : CallParse::bad;
}

// Why the call is bad, or nullptr.
const char* add_event(CallParse parsed, const Event& event, ImportSink& sink)
{
    if (parsed == CallParse::event && (event.kind != EventKind::free || event.address != 0)) {
        sink.add(event);
    }
    return parsed == CallParse::bad ? "a call whose arguments or result cannot be read" : nullptr;
}

bool is_valgrind(std::string_view head)
{
    return has_line_with(head, "--", "-- malloc(") || has_line_with(head, "==", "alloc") ||
           has_line_with(head, "==", "Memcheck") || has_line_with(head, "--", "alloc(");
}

// "--PID-- malloc(16) = 0x4A46040"; other lines are those of valgrind and of the program.
const char* add_valgrind_line(std::string_view line, ImportSink& sink)
{
    const std::size_t end = line.starts_with("--") ? line.find("-- ", 2) : std::string_view::npos;
    const auto process = end == std::string_view::npos ? std::nullopt : parse_number(line.substr(2, end - 2));
    const CallPlace call = process ? find_call(line) : CallPlace{};
    if (call.begin == std::string_view::npos) {
        return nullptr;
    }
    const std::string_view rest = line.substr(call.begin + call.name.size() + 1);
    const std::size_t close = rest.find(')');
    const std::size_t equals = rest.find('=', close == std::string_view::npos ? 0 : close);
    const std::string_view result = equals == std::string_view::npos ? std::string_view{} : rest.substr(equals + 1);
    Event event{.process = static_cast<std::uint32_t>(*process)};
    const CallParse parsed =
        close == std::string_view::npos ? CallParse::bad : parse_call(call.name, rest.substr(0, close), result, event);
    return add_event(parsed, event, sink);
}

// "PID object->malloc(16) = 0x55da66fe42a0"; a call that another thread interrupts comes in two lines.
class LtraceLines {
  public:
    explicit LtraceLines(ImportSink& sink) : sink_{&sink} {}

    // Why the line is bad, or nullptr.
    const char* add(std::string_view line)
    {
        const std::uint32_t process = process_of(line);
        if (const std::size_t resumed = line.find(" resumed>"); resumed != std::string_view::npos) {
            return finish(process, line.substr(resumed + 9));
        }
        const CallPlace call = find_call(line);
        if (call.begin == std::string_view::npos) {
            return nullptr;
        }
        std::string_view rest = line.substr(call.begin + call.name.size() + 1);
        if (const std::size_t cut = rest.find("<unfinished"); cut != std::string_view::npos) {
            unfinished_[process] = {std::string{call.name}, std::string{rest.substr(0, cut)}};
            return nullptr;
        }
        return add_call(process, call.name, rest);
    }

  private:
    struct Unfinished {
        std::string name;
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

    const char* finish(std::uint32_t process, std::string_view rest)
    {
        const auto begun = unfinished_.find(process);
        if (begun == unfinished_.end()) {
            return nullptr;  // of a call that allocates nothing
        }
        const std::string text = begun->second.arguments + std::string{rest};
        const std::string name = begun->second.name;
        unfinished_.erase(begun);
        return add_call(process, name, text);
    }

    const char* add_call(std::uint32_t process, std::string_view name, std::string_view rest)
    {
        const std::size_t close = rest.find(')', rest.starts_with("(nil)") ? 5 : 0);
        const std::size_t equals = rest.find('=', close == std::string_view::npos ? 0 : close);
        Event event{.process = process};
        const bool has_both = close != std::string_view::npos && equals != std::string_view::npos;
        const CallParse parsed =
            has_both ? parse_call(name, rest.substr(0, close), rest.substr(equals + 1), event) : CallParse::bad;
        return add_event(parsed, event, *sink_);
    }

    ImportSink* sink_;
    std::map<std::uint32_t, Unfinished> unfinished_;
};

bool is_ltrace(std::string_view head)
{
    return has_line_with(head, "", "malloc(") && has_line_with(head, "", ") ");
}

base::Expected<void> import_valgrind(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    import_lines(log, sink, [&](std::string_view line) { return add_valgrind_line(line, sink); });
    return {};
}

base::Expected<void> import_ltrace(LogText& log, ImportSink& sink, const ImportOptions& /*options*/)
{
    LtraceLines lines{sink};
    import_lines(log, sink, [&](std::string_view line) { return lines.add(line); });
    return {};
}

}  // namespace

ImportFormat valgrind_format()
{
    return {"valgrind", "valgrind --trace-malloc=yes", 0, is_valgrind, import_valgrind};
}

ImportFormat ltrace_format()
{
    return {"ltrace", "ltrace -f -e malloc+free+calloc+realloc", 0, is_ltrace, import_ltrace};
}

}  // namespace memsweep::trace
