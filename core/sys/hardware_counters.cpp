#include "core/sys/hardware_counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace memsweep::sys {
namespace {

int open_counter(pid_t process, std::uint64_t event) noexcept
{
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = event;
    attributes.disabled = 1;
    attributes.inherit = 1;
    attributes.enable_on_exec = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

struct CounterReading {
    std::uint64_t count;
    std::uint64_t enabled_ns;
    std::uint64_t running_ns;
};

std::optional<std::uint64_t> read_counter(const UniqueFd& counter) noexcept
{
    CounterReading reading{};
    const bool known = counter.valid() && ::read(counter.get(), &reading, sizeof reading) == sizeof reading;
    // One that others' counters pushed aside for a while has seen a part; one that never ran has seen nothing.
    return known && reading.running_ns != 0 && reading.running_ns == reading.enabled_ns ? std::optional{reading.count}
                                                                                        : std::nullopt;
}

}  // namespace

bool has_hardware_counters() noexcept
{
    static const bool can = UniqueFd{open_counter(0, PERF_COUNT_HW_INSTRUCTIONS)}.valid();
    return can;
}

HardwareCounters::HardwareCounters(pid_t process) noexcept
    : instructions_{open_counter(process, PERF_COUNT_HW_INSTRUCTIONS)},
      cycles_{open_counter(process, PERF_COUNT_HW_CPU_CYCLES)}
{
}

HardwareCounts HardwareCounters::read() const noexcept
{
    return {.instructions = read_counter(instructions_), .cycles = read_counter(cycles_)};
}

}  // namespace memsweep::sys
