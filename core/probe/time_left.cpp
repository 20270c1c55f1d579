#include "core/probe/time_left.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/probe/device_cases.hpp"

namespace memsweep::probe {
namespace {

// Times what is usual.
constexpr double least_pace = 0.5;
constexpr double most_pace = 3;

std::size_t device_case_count(const ProbeContext& context, const device::Runtime& runtime)
{
    if (runtime.devices().empty()) {
        return 0;
    }
    std::vector<std::uint32_t> devices = context.devices;
    if (devices.empty()) {
        devices.resize(runtime.devices().size());
        std::iota(devices.begin(), devices.end(), 0);
    }
    const auto& cases = device_cases();
    return std::transform_reduce(cases.begin(), cases.end(), std::size_t{}, std::plus{},
                                 [&](const DeviceCase& what) { return ends_of(what, devices, context.pairs).size(); });
}

}  // namespace

std::vector<Part> usual_parts(const ProbeContext& context, const device::Runtime& runtime)
{
    const ProbeSettings usual;
    // What samples take of the costs, which are those of the default settings.
    const double share = static_cast<double>(context.settings.samples) * context.settings.sample_seconds /
                         (static_cast<double>(usual.samples) * usual.sample_seconds);
    const auto nodes = static_cast<double>(context.nodes.size());
    const double samples_of_a_device_case = 12;
    return {{"topology", 0.1},
            {"latency", 2 + 2.6 * share},
            {"bandwidth", 4 + 13 * share + nodes * nodes * (0.2 + 0.5 * share)},
            {"faults", 1.5},
            {"device", static_cast<double>(device_case_count(context, runtime)) * samples_of_a_device_case *
                           usual.sample_seconds * share},
            {"transfers", 1 + 1.3 * share}};
}

TimeLeft::TimeLeft(const sys::Clock& clock, std::vector<Part> parts)
    : clock_{clock}, parts_{std::move(parts)}, began_{clock.now()}
{
}

void TimeLeft::begin(std::string_view part)
{
    const auto found = std::ranges::find(parts_, part, &Part::name);
    const auto number = static_cast<std::size_t>(found - parts_.begin());
    if (found == parts_.end() || number <= now_) {
        return;
    }
    took_before_ += elapsed();
    usual_before_ = std::accumulate(parts_.begin(), found, 0.0,
                                    [](double sum, const Part& one) { return sum + one.usual_seconds; });
    now_ = number;
    began_ = clock_.now();
}

double TimeLeft::seconds() const
{
    if (parts_.empty()) {
        return 0;
    }
    // A part that hardly takes any time says nothing of the others, and no part says all.
    const double pace = usual_before_ < 1 ? 1 : std::clamp(took_before_ / usual_before_, least_pace, most_pace);
    const auto current = parts_.begin() + static_cast<std::ptrdiff_t>(now_);
    const double later = std::accumulate(current + 1, parts_.end(), 0.0,
                                         [](double sum, const Part& one) { return sum + one.usual_seconds; });
    return std::max(0.0, current->usual_seconds * pace - elapsed()) + later * pace;
}

double TimeLeft::elapsed() const
{
    return sys::seconds_of(clock_.now() - began_);
}

}  // namespace memsweep::probe
