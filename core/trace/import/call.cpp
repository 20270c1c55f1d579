#include "core/trace/import/call.hpp"

#include <algorithm>
#include <array>

#include "core/base/checked.hpp"
#include "core/trace/import/fields.hpp"

namespace memsweep::trace {
namespace {

enum class Shape { malloc, calloc, realloc, reallocarray, memalign, free, posix_memalign };

struct Function {
    std::string_view name;
    Shape shape;
};

constexpr std::array functions{
    Function{"malloc", Shape::malloc},
    Function{"calloc", Shape::calloc},
    Function{"realloc", Shape::realloc},
    Function{"reallocarray", Shape::reallocarray},
    Function{"memalign", Shape::memalign},
    Function{"aligned_alloc", Shape::memalign},
    Function{"valloc", Shape::malloc},
    Function{"pvalloc", Shape::malloc},
    Function{"posix_memalign", Shape::posix_memalign},
    Function{"free", Shape::free},
    Function{"cfree", Shape::free},
    Function{"_Znwm", Shape::malloc},
    Function{"_Znam", Shape::malloc},
    Function{"_ZnwmRKSt9nothrow_t", Shape::malloc},
    Function{"_ZnamRKSt9nothrow_t", Shape::malloc},
    Function{"_ZdlPv", Shape::free},
    Function{"_ZdaPv", Shape::free},
    Function{"_ZdlPvm", Shape::free},
    Function{"_ZdaPvm", Shape::free},
};

// Sizes are decimal, also behind a word: "al 64, size 100".
std::optional<std::uint64_t> size_in(std::string_view text)
{
    text = trimmed(text);
    return number(take_last_word(text));
}

CallParse allocation(Event& event, EventKind kind, std::optional<std::uint64_t> size, std::string_view result)
{
    const auto address = pointer(result);
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
    const auto old_address = pointer(trimmed(old));
    if (!old_address) {
        return CallParse::bad;
    }
    if (*old_address != 0 && size == std::optional<std::uint64_t>{0} && pointer(result).value_or(0) == 0) {
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

}  // namespace

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
        if (std::ranges::find(functions, name, &Function::name) != functions.end()) {
            found = {begin, name};
        }
    }
    return found;
}

CallParse parse_call(std::string_view name, std::string_view arguments, std::string_view result, Event& event)
{
    const auto* const function = std::ranges::find(functions, name, &Function::name);
    if (function == functions.end()) {
        return CallParse::none;
    }
    result = trimmed(result);
    std::string_view rest = arguments;
    const std::string_view first = take_until(rest, ',');
    switch (function->shape) {
    case Shape::malloc:
        return allocation(event, EventKind::malloc, size_in(first), result);
    case Shape::calloc:
        return allocation(event, EventKind::calloc, product(size_in(first), size_in(rest)), result);
    case Shape::realloc:
        return reallocation(event, first, size_in(rest), result);
    case Shape::reallocarray: {
        const std::string_view count = take_until(rest, ',');
        return reallocation(event, first, product(size_in(count), size_in(rest)), result);
    }
    case Shape::memalign:
        event.alignment = size_in(first).value_or(1);
        return allocation(event, EventKind::aligned_alloc, size_in(rest), result);
    case Shape::posix_memalign:
        return CallParse::bad;  // it returns its block through memory that no tracer prints
    case Shape::free:
        break;
    }
    const auto address = pointer(trimmed(first));
    event.kind = EventKind::free;
    event.address = address.value_or(0);
    return address ? CallParse::event : CallParse::bad;
}

}  // namespace memsweep::trace
