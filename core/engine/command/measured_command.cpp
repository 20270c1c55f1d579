#include "core/engine/command/measured_command.hpp"

#include <algorithm>
#include <utility>

namespace memsweep::engine {

CommandRecord measured_command(const sys::ExitStatus& status, std::chrono::nanoseconds wall, const TreeSampler& sampler,
                               Moment at_end)
{
    CommandRecord measured;
    measured.wall_ns = wall.count();
    measured.cpu_ns = (status.user_cpu + status.system_cpu).count();
    measured.minor_faults = status.minor_faults;
    measured.major_faults = status.major_faults;
    measured.peak_working_set_bytes = std::max(status.max_rss_bytes, at_end.working_set_bytes);
    if (sampler.most_processes() > 1) {
        measured.peak_working_set_bytes = std::max(measured.peak_working_set_bytes, sampler.peak_bytes());
    }
    measured.user_time = status.user_cpu;
    measured.system_time = status.system_cpu;
    measured.context_switches = status.context_switches;
    measured.read_bytes = status.read_bytes;
    measured.written_bytes = status.written_bytes;
    measured.pressure_seconds = sampler.stall_seconds();
    measured.at_end = std::move(at_end);
    return measured;
}

}  // namespace memsweep::engine
