#include "core/engine/tree_sampler.hpp"

#include <algorithm>

#include <unistd.h>

#include "core/sys/file_text.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::steady_clock;

enum class Sampled : std::size_t { working_set, processes, minor_faults, major_faults, memory_stall };

std::optional<std::uint64_t> stall_us()
{
    const auto text = sys::read_kernel_text("/proc/pressure/memory");
    return text ? sys::memory_stall_us(*text) : std::nullopt;
}

double since(std::uint64_t before, std::uint64_t now)
{
    return now > before ? static_cast<double>(now - before) : 0;
}

}  // namespace

TreeSampler::TreeSampler(bool keeps_series) : keeps_series_{keeps_series}
{
    if (!keeps_series_) {
        return;
    }
    series_ = {{.name = "working_set", .unit = model::Unit::bytes},
               {.name = "processes", .unit = model::Unit::one},
               {.name = "minor_faults", .unit = model::Unit::one},
               {.name = "major_faults", .unit = model::Unit::one}};
    if (stall_us()) {
        series_.push_back({.name = "memory_stall", .unit = model::Unit::seconds});
    }
}

void TreeSampler::begin()
{
    begun_ = steady_clock::now();
    first_stall_us_ = last_stall_us_ = stall_us();
}

void TreeSampler::sample()
{
    const auto before = steady_clock::now();
    const sys::TreeSample now = sys::sample_descendants(::getpid());
    if (now.processes != 0 && now.working_set_bytes != 0) {  // else it has ended, or not begun
        if (keeps_series_) {
            keep(now, before);
        }
        peak_bytes_ = std::max(peak_bytes_, now.working_set_bytes);
        most_processes_ = std::max(most_processes_, now.processes);
        last_ = now;
    }
    cost_ = steady_clock::now() - before;
}

void TreeSampler::keep(const sys::TreeSample& now, steady_clock::time_point at)
{
    const double time = std::chrono::duration<double>(at - begun_).count();
    const auto put = [&](Sampled which, double value) {
        model::Series& series = series_[static_cast<std::size_t>(which)];
        series.t.push_back(time);
        series.v.push_back(value);
    };
    put(Sampled::working_set, static_cast<double>(now.working_set_bytes));
    put(Sampled::processes, static_cast<double>(now.processes));
    put(Sampled::minor_faults, since(last_.minor_faults, now.minor_faults));
    put(Sampled::major_faults, since(last_.major_faults, now.major_faults));
    if (const auto stall = stall_us(); stall && last_stall_us_) {
        put(Sampled::memory_stall, since(*last_stall_us_, *stall) * 1e-6);
        last_stall_us_ = stall;
    }
}

std::optional<double> TreeSampler::stall_seconds() const
{
    const auto now = stall_us();
    return now && first_stall_us_ ? std::optional{since(*first_stall_us_, *now) * 1e-6} : std::nullopt;
}

}  // namespace memsweep::engine
