#include "core/trace/recorder/python_stacks.hpp"

#include <algorithm>
#include <atomic>

#include <sys/mman.h>

#include "core/trace/format/stack_layout.hpp"
#include "core/trace/recorder/python_calls.hpp"
#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {
namespace {

constexpr unsigned place_of_line_bits = 16;

// Of calls: 32 bits of a mark, and the number of the line and one.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own it
std::atomic<std::uint64_t>* lines;

// The address that stands for a call of Python. 0: it has none.
std::uint64_t address_of(ThreadStacks& thread, CallTree& tree, std::uint64_t generation,
                         const PythonCall& call) noexcept
{
    const std::uint64_t mixed = (call.key ^ generation << 32U) * 0x9E3779B97F4A7C15U;
    std::atomic<std::uint64_t>& place = lines[mixed >> (64U - place_of_line_bits)];
    const std::uint64_t mark = mixed & 0xFFFFFFFFU;
    const std::uint64_t entry = place.load(std::memory_order_relaxed);
    if (entry >> 32U == mark && static_cast<std::uint32_t>(entry) != 0) [[likely]] {
        return first_interpreted + static_cast<std::uint32_t>(entry) - 1;
    }
    PythonLine line;
    const std::uint64_t address =
        line_of(call, thread.texts, line) ? tree.address_of_line(generation, line) : std::uint64_t{0};
    if (address != 0) {
        place.store(mark << 32U | (address - first_interpreted + 1), std::memory_order_relaxed);
    }
    return address;
}

}  // namespace

bool prepare_python_stacks() noexcept
{
    const long at = map_own_memory(sizeof(std::uint64_t) << place_of_line_bits, MAP_NORESERVE);
    lines = at < 0 ? nullptr : reinterpret_cast<std::atomic<std::uint64_t>*>(at);  // NOLINT(performance-no-int-to-ptr)
    return lines != nullptr;
}

// Evaluations are looked at from the outermost on, as what lies within one that has changed is numbered anew anyway.
std::uint32_t unchanged_evaluations(ThreadStacks& thread, std::uint32_t depth, bool may_look) noexcept
{
    thread.python.evaluations_count = 0;
    if (may_look && has_python()) {
        walk_python(thread.python);
    }
    const PythonCalls& now = thread.python;
    const std::uint32_t count = now.evaluations_count;
    std::uint32_t same = 0;
    while (same < thread.evaluations_count && same < count &&
           thread.evaluations[same].marker == now.evaluations[count - 1 - same].marker &&
           thread.evaluations[same].key == now.evaluations[count - 1 - same].key) {
        ++same;
    }
    std::uint64_t highest = 0;  // of the markers of those that are not the same
    highest = same < thread.evaluations_count ? thread.evaluations[same].marker : highest;
    highest = same < count ? std::max(highest, now.evaluations[count - 1 - same].marker) : highest;
    while (depth != 0 && thread.remembered[depth - 1].registers.stack <= highest) {
        --depth;
    }
    for (; same < count; ++same) {
        thread.evaluations[same] = {now.evaluations[count - 1 - same].marker, now.evaluations[count - 1 - same].key};
    }
    thread.evaluations_count = count;
    return depth;
}

std::uint32_t list_addresses(ThreadStacks& thread, CallTree& tree, std::uint64_t generation, std::uint32_t from,
                             std::uint32_t depth) noexcept
{
    const PythonCalls& python = thread.python;
    const std::uint64_t end_of_stack = from == 0 ? ~0ULL : thread.remembered[from - 1].registers.stack;
    std::uint32_t left = python.evaluations_count;  // from the outermost on
    while (left != 0 && python.evaluations[left - 1].marker >= end_of_stack) {
        --left;
    }
    std::uint32_t count = 0;
    for (std::uint32_t i = from; i < depth; ++i) {
        Frame& frame = thread.remembered[i];
        const std::uint32_t before = count;
        for (; left != 0 && python.evaluations[left - 1].marker >= frame.registers.stack; --left) {
            const Evaluation& evaluation = python.evaluations[left - 1];
            if (i == 0) {
                continue;  // what is outside of the outermost frame is not known
            }
            if (evaluation.is_cut) {
                thread.walk.addresses[count++] = frame.registers.next;
            }
            for (std::uint32_t call = evaluation.behind; call-- > evaluation.first;) {
                const std::uint64_t address = address_of(thread, tree, generation, python.calls[call]);
                if (address != 0) {
                    thread.walk.addresses[count++] = address;
                }
            }
        }
        if (count == before) {
            thread.walk.addresses[count++] = frame.registers.next;
        }
        frame.node = count;
    }
    return count;
}

}  // namespace memsweep::trace::recorder
