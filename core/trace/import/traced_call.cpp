#include "core/trace/import/traced_call.hpp"

#include <algorithm>
#include <array>

#include "core/base/checked.hpp"
#include "core/trace/import/log_text.hpp"

namespace memsweep::trace {
namespace {

struct TracedFunction {
    std::string_view name;
    CallShape shape;
};

constexpr std::array traced_functions{
    TracedFunction{"malloc", CallShape::malloc},
    TracedFunction{"calloc", CallShape::calloc},
    TracedFunction{"realloc", CallShape::realloc},
    TracedFunction{"reallocf", CallShape::realloc},
    TracedFunction{"reallocarray", CallShape::reallocarray},
    TracedFunction{"recallocarray", CallShape::untold},
    TracedFunction{"memalign", CallShape::memalign},
    TracedFunction{"aligned_alloc", CallShape::memalign},
    TracedFunction{"valloc", CallShape::malloc},
    TracedFunction{"pvalloc", CallShape::malloc},
    TracedFunction{"posix_memalign", CallShape::untold},
    TracedFunction{"free", CallShape::free},
    TracedFunction{"cfree", CallShape::free},
    TracedFunction{"freezero", CallShape::free},
    TracedFunction{"free_sized", CallShape::free},
    TracedFunction{"free_aligned_sized", CallShape::free},
    // C's other functions that return a block of their own.
    TracedFunction{"strdup", CallShape::untold},
    TracedFunction{"strndup", CallShape::untold},
    TracedFunction{"wcsdup", CallShape::untold},
    TracedFunction{"asprintf", CallShape::untold},
    TracedFunction{"vasprintf", CallShape::untold},
    // jemalloc's, with or without je_.
    TracedFunction{"mallocx", CallShape::malloc},
    TracedFunction{"rallocx", CallShape::realloc},
    TracedFunction{"xallocx", CallShape::untold},
    TracedFunction{"dallocx", CallShape::free},
    TracedFunction{"sdallocx", CallShape::free},
    // mimalloc's and tcmalloc's, behind mi_ and tc_.
    TracedFunction{"zalloc", CallShape::malloc},
    TracedFunction{"malloc_small", CallShape::malloc},
    TracedFunction{"zalloc_small", CallShape::malloc},
    TracedFunction{"mallocn", CallShape::calloc},
    TracedFunction{"malloc_aligned", CallShape::aligned_new},
    TracedFunction{"zalloc_aligned", CallShape::aligned_new},
    TracedFunction{"free_size", CallShape::free},
    TracedFunction{"free_size_aligned", CallShape::free},
    TracedFunction{"free_aligned", CallShape::free},
    TracedFunction{"new", CallShape::malloc},
    TracedFunction{"new_nothrow", CallShape::malloc},
    TracedFunction{"new_aligned", CallShape::aligned_new},
    TracedFunction{"new_aligned_nothrow", CallShape::aligned_new},
    TracedFunction{"newarray", CallShape::malloc},
    TracedFunction{"newarray_nothrow", CallShape::malloc},
    TracedFunction{"delete", CallShape::free},
    TracedFunction{"delete_sized", CallShape::free},
    TracedFunction{"deletearray", CallShape::free},
    TracedFunction{"deletearray_sized", CallShape::free},
};
constexpr std::size_t first_with_prefix = 26;  // "new" alone is no function of C

// What allocators put before the names of C's functions.
constexpr std::array<std::string_view, 5> prefixes{"mi_", "je_", "tc_", "__libc_", "__interceptor_"};

bool is_new(std::string_view name)
{
    return name.starts_with("_Znw") || name.starts_with("_Zna") || name.starts_with("operator new");
}

bool is_delete(std::string_view name)
{
    return name.starts_with("_Zdl") || name.starts_with("_Zda") || name.starts_with("operator delete");
}

std::string_view next_argument(std::string_view& arguments)
{
    return trimmed(take_until(arguments, ','));
}

// "16", "0x30d40" as ltrace prints what it knows no type of, and "size 100".
std::optional<std::uint64_t> size_in(std::string_view text)
{
    text = trimmed(text);
    const std::string_view digits = take_last_word(text);
    return digits.starts_with("0x") ? parse_number(digits.substr(2), 16) : parse_number(digits);
}

// What does not fit into 64 bits is refused, whatever it is.
std::optional<std::uint64_t> product(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b)
{
    return a && b ? std::optional{base::saturating_mul(*a, *b)} : std::nullopt;
}

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
    const auto old_address = parse_pointer(old);
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

// By position: ltrace prints four arguments of a function that it does not know, whatever it takes.
bool read_arguments(Event& event, CallShape shape, std::string_view arguments, std::string_view result)
{
    const std::string_view first = next_argument(arguments);
    const std::string_view second = next_argument(arguments);
    switch (shape) {
    case CallShape::malloc:
        return read_allocation(event, EventKind::malloc, size_in(first), result);
    case CallShape::calloc:
        return read_allocation(event, EventKind::calloc, product(size_in(first), size_in(second)), result);
    case CallShape::realloc:
        return read_reallocation(event, first, size_in(second), result);
    case CallShape::reallocarray:
        return read_reallocation(event, first, product(size_in(second), size_in(next_argument(arguments))), result);
    case CallShape::memalign:
        event.alignment = size_in(first).value_or(1);
        return read_allocation(event, EventKind::aligned_alloc, size_in(second), result);
    case CallShape::aligned_new:
        event.alignment = size_in(second).value_or(1);
        return read_allocation(event, EventKind::aligned_alloc, size_in(first), result);
    case CallShape::untold:
        return false;
    case CallShape::free:
        break;
    }
    std::string_view pointer = first;
    const auto address = parse_pointer(take_last_word(pointer));
    event.kind = EventKind::free;
    event.address = address.value_or(0);
    return address.has_value();
}

}  // namespace

std::optional<CallShape> shape_of(std::string_view name)
{
    name = name.substr(0, name.find('@'));
    if (is_new(name)) {
        return name.find("align_val_t") != std::string_view::npos ? CallShape::aligned_new : CallShape::malloc;
    }
    if (is_delete(name)) {
        return CallShape::free;
    }
    bool has_prefix = false;
    for (const std::string_view prefix : prefixes) {
        if (!has_prefix && name.starts_with(prefix)) {
            name.remove_prefix(prefix.size());
            has_prefix = true;
        }
    }
    const auto known = has_prefix ? traced_functions.end() : traced_functions.begin() + first_with_prefix;
    const auto* const function =
        std::find_if(traced_functions.begin(), known, [&](const TracedFunction& one) { return one.name == name; });
    return function == known ? std::nullopt : std::optional{function->shape};
}

bool may_throw(std::string_view name)
{
    return is_new(name);
}

std::optional<TracedCall> call_at(std::string_view text)
{
    std::size_t open = text.find('(');
    if (open == std::string_view::npos) {
        return std::nullopt;
    }
    std::size_t begin = text.substr(0, open).rfind("->");  // the object that calls
    begin = begin == std::string_view::npos ? 0 : begin + 2;
    const std::string_view callee = text.substr(begin, open - begin);
    if (callee.starts_with("operator ")) {  // its types stand before its arguments
        const std::size_t close = text.find(')', open);
        open = close == std::string_view::npos ? close : text.find('(', close + 1);
        if (open == std::string_view::npos || (text[close + 1] != '(' && text[close + 1] != '@')) {
            return std::nullopt;
        }
    }
    const std::string_view name = trimmed(text.substr(begin, open - begin));
    return name.empty() ? std::nullopt : std::optional{TracedCall{name, text.substr(open + 1)}};
}

bool read_call(Event& event, CallShape shape, std::string_view rest)
{
    // A pointer that is none is printed as "(nil)".
    const std::size_t close = rest.find(')', rest.starts_with("(nil)") ? 5 : 0);
    if (close == std::string_view::npos) {
        return false;
    }
    const std::size_t equals = rest.find('=', close);
    std::string_view result = equals == std::string_view::npos ? std::string_view{} : trimmed(rest.substr(equals + 1));
    result = take_until(result, ' ');  // ltrace -T prints the time behind it
    return read_arguments(event, shape, rest.substr(0, close), result);
}

}  // namespace memsweep::trace
