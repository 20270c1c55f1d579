#include "core/trace/recorder/stack_bounds.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include <sys/mman.h>
#include <sys/resource.h>

#include "core/trace/recorder/own_mappings.hpp"
#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {
namespace {

// The thread's own. A forked child goes on on it, and may see no /proc.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
__thread Bounds known_bounds __attribute__((tls_model("initial-exec")));

// Empty: it lies in none that is known.
Bounds mapping_of(std::uint64_t address, std::span<char> room) noexcept
{
    OwnMapping found;
    if (!find_own_mapping(address, room, found)) {
        return {};
    }
    if (found.is_main_stack) {  // it grows
        rlimit limit{};
        constexpr std::uint64_t most = 1ULL << 30U;
        const bool is_known = ::getrlimit(RLIMIT_STACK, &limit) == 0;
        found.low = std::min(found.low, found.high - std::min<std::uint64_t>(is_known ? limit.rlim_cur : 0, most));
    }
    return {found.low, found.high};
}

bool is_mapped(std::uint64_t from, std::uint64_t to) noexcept
{
    std::array<unsigned char, 64> states{};
    constexpr std::uint64_t page = 4096;
    from = from / page * page;
    return to - from <= states.size() * page && kernel(SYS_mincore, from, to - from, states.data()) == 0;
}

// Whether the thread is on its signals' stack, which is then told.
bool is_on(stack_t& signal_stack) noexcept
{
    return kernel(SYS_sigaltstack, nullptr, &signal_stack) == 0 && (signal_stack.ss_flags & SS_ONSTACK) != 0;
}

}  // namespace

bool is_on_signal_stack() noexcept
{
    stack_t signal_stack{};
    return is_on(signal_stack);
}

// Above the frames of a thread lies what the C library keeps of it; what is mapped behind may be another's.
Bounds thread_bounds(std::uint64_t at, std::span<char> room) noexcept
{
    Bounds bounds = mapping_of(at, room);
    const auto own_data = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
    if (bounds.holds(own_data) && own_data > at) {
        bounds.high = own_data;
    }
    if (bounds.holds(at)) {
        known_bounds = bounds;
    }
    return known_bounds.holds(at) ? known_bounds : Bounds{};
}

Bounds other_bounds(Bounds& mapping, std::uint64_t at, std::span<char> room) noexcept
{
    stack_t signal_stack{};
    if (is_on(signal_stack)) {
        const auto low = reinterpret_cast<std::uint64_t>(signal_stack.ss_sp);
        const Bounds bounds{low, low + signal_stack.ss_size};
        if (bounds.holds(at)) {
            return bounds;
        }
    }
    if (!mapping.holds(at)) {
        mapping = mapping_of(at, room);
    }
    constexpr std::uint64_t most = std::uint64_t{60} * 4096;
    const Bounds bounds{at, std::min(mapping.high, at + most)};
    return mapping.holds(at) && is_mapped(at, bounds.high) ? bounds : Bounds{};
}

}  // namespace memsweep::trace::recorder
