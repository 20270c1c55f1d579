#include "core/model/step.hpp"

#include <array>

#include "core/base/checked.hpp"

namespace memsweep::model {

template <>
std::span<const Named<Touch>> names<Touch>()
{
    static constexpr std::array<Named<Touch>, 3> table{{
        {Touch::none, "none", "nothing is written, so no page becomes resident"},
        {Touch::page, "page", "one byte of each page is written"},
        {Touch::full, "full", "every byte is written"},
    }};
    return table;
}

template <>
std::span<const Named<Fill>> names<Fill>()
{
    static constexpr std::array<Named<Fill>, 4> table{{
        {Fill::none, "none", "contents left as the allocator gives them"},
        {Fill::zeros, "zeros", "zeros; untouched where the allocator can promise them (calloc)"},
        {Fill::ones, "ones", "every element 1; needs touch full"},
        {Fill::arange, "arange", "element i is i; needs touch full"},
    }};
    return table;
}

template <>
std::span<const Named<BinaryFunction>> names<BinaryFunction>()
{
    static constexpr std::array<Named<BinaryFunction>, 2> table{{
        {BinaryFunction::add, "add", "element-wise sum"},
        {BinaryFunction::multiply, "multiply", "element-wise product"},
    }};
    return table;
}

template <>
std::span<const Named<ReplayTouch>> names<ReplayTouch>()
{
    static constexpr std::array<Named<ReplayTouch>, 4> table{{
        {ReplayTouch::recorded, "recorded", "as first-byte: no trace says yet what was written"},
        {ReplayTouch::none, "none", "nothing is written"},
        {ReplayTouch::first_byte, "first-byte", "the first byte of the block and of each further page"},
        {ReplayTouch::all, "all", "every byte"},
    }};
    return table;
}

template <>
std::span<const Named<ReplaySpeed>> names<ReplaySpeed>()
{
    static constexpr std::array<Named<ReplaySpeed>, 2> table{{
        {ReplaySpeed::maximum, "maximum", "one event after the other"},
        {ReplaySpeed::original, "original", "no event before its time in the recording"},
    }};
    return table;
}

std::span<const OperationInfo> operations()
{
    static constexpr std::array<OperationInfo, std::variant_size_v<Operation>> table{{
        {"alloc", "allocate arrays under a name; a name in use is rebound, new arrays first"},
        {"write", "write to the arrays of a name"},
        {"read", "read every byte of the arrays of a name, into the checksum"},
        {"binary", "add or multiply two arrays into a new one"},
        {"concat", "call a case of the concatenation sweep, each call timed by itself, and check its result"},
        {"view", "take rows of the arrays of a name under another: a view that shares their memory, or a copy"},
        {"free", "free the arrays of a name by hand; the name keeps its references"},
        {"release", "drop a reference that the program does not hold: a planted mistake"},
        {"drop", "drop the references to the arrays of a name"},
        {"collect", "run a collection: unreachable arrays are found and queued for release"},
        {"drain", "wait until everything found has been released"},
        {"trim",
         "take the resident pages of the arrays of a name away, by one of the mechanisms below; contents may be lost"},
        {"prefetch", "bring the pages of the arrays of a name in before they are used; contents kept"},
        {"migrate", "move the resident pages of the arrays of a name to a NUMA node (move_pages)"},
        {"stream", "go once through the arrays of a name in chunks, the next ones on their way, the last ones dropped"},
        {"share", "named shared memory with a second process: what one writes the other reads and checks"},
        {"transfer", "move bytes between places, several at once, by a way chosen or asked for; every byte is checked"},
        {"sample", "take a named point: live bytes, working set, faults, queue depth"},
        {"idle", "do nothing for a while"},
        {"repeat", "run nested steps several times"},
        {"scope", "run nested steps as a block: names first allocated in it end with it, an arena's memory too"},
        {"parallel", "run nested steps in several threads at once, each with names of its own"},
        {"pass", "in a parallel block: hand the arrays of a name to the next thread, take those of the one before"},
        {"throw", "every Nth time, leave the innermost scope by an exception, past its manual frees"},
        {"replay", "allocate and free as a recorded program did, thread by thread, and free at its end what it left"},
        {"purge", "ask the allocator and the pool to give back to the system what they hold idle"},
    }};
    return table;
}

Nested nested(const Operation& operation)
{
    if (const auto* repeat = std::get_if<RepeatStep>(&operation)) {
        return {repeat->times, &repeat->steps};
    }
    if (const auto* scope = std::get_if<ScopeStep>(&operation)) {
        return {1, &scope->steps};
    }
    if (const auto* parallel = std::get_if<ParallelStep>(&operation)) {
        return {parallel->threads, &parallel->steps};
    }
    return {};
}

std::string_view operation_name(const Operation& operation)
{
    return operations()[operation.index()].name;
}

std::optional<std::uint64_t> array_bytes(const AllocStep& step)
{
    std::optional<std::uint64_t> bytes = size_bytes(step.dtype);
    for (const std::uint64_t extent : step.shape) {
        bytes = bytes ? base::checked_mul(*bytes, extent) : std::nullopt;
    }
    return bytes;
}

}  // namespace memsweep::model
