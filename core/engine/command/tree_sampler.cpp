#include "core/engine/command/tree_sampler.hpp"

#include <algorithm>
#include <ctime>

#include "core/sys/file_text.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Samples take at most one part in so many of one processor's time; where walks are needed, half of that, and walks the
// other half.
constexpr int sampling_share = 50;

enum class Sampled : std::size_t { working_set, processes, minor_faults, major_faults, memory_stall };

std::optional<std::uint64_t> stall_us()
{
    const auto text = sys::read_kernel_text("/proc/pressure/memory");
    return text ? sys::memory_stall_us(*text) : std::nullopt;
}

// The processor time of this thread alone: what other programs take meanwhile is no cost of ours.
nanoseconds processor_time()
{
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds{now.tv_sec} + nanoseconds{now.tv_nsec};
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

void TreeSampler::sample(pid_t of)
{
    const auto at = steady_clock::now();
    const nanoseconds before = processor_time();
    const sys::TreeSample now = sys::sample_descendants(of);
    cost_ = processor_time() - before;
    if (now.processes == 0 || now.working_set_bytes == 0) {  // it has ended, or not begun
        return;
    }
    most_processes_ = std::max(most_processes_, now.processes);
    if (const auto bytes = working_set(now, at)) {
        peak_bytes_ = std::max(peak_bytes_, *bytes);
        if (keeps_series_) {
            keep(now, *bytes, at);
        }
    }
}

std::optional<std::uint64_t> TreeSampler::working_set(const sys::TreeSample& now, steady_clock::time_point at)
{
    const std::uint64_t of_no_interest = keeps_series_ ? 0 : peak_bytes_ + peak_bytes_ / 100;
    if (!shared_.is_walk_due(now, of_no_interest, at)) {
        return shared_.least_bytes(now);
    }
    const nanoseconds before = processor_time();
    const std::uint64_t bytes = sys::with_shared_once(now);
    shared_.walked(now, bytes, at + (processor_time() - before) * sampling_share * 2);
    return bytes;
}

void TreeSampler::keep(const sys::TreeSample& now, std::uint64_t bytes, steady_clock::time_point at)
{
    const double time = std::chrono::duration<double>(at - begun_).count();
    const auto put = [&](Sampled which, double value) {
        model::Series& series = series_[static_cast<std::size_t>(which)];
        series.t.push_back(time);
        series.v.push_back(value);
    };
    put(Sampled::working_set, static_cast<double>(bytes));
    put(Sampled::processes, static_cast<double>(now.processes));
    put(Sampled::minor_faults, since(kept_.minor_faults, now.minor_faults));
    put(Sampled::major_faults, since(kept_.major_faults, now.major_faults));
    if (const auto stall = stall_us(); stall && last_stall_us_) {
        put(Sampled::memory_stall, since(*last_stall_us_, *stall) * 1e-6);
        last_stall_us_ = stall;
    }
    kept_ = now;
}

nanoseconds TreeSampler::pause() const
{
    return cost_ * (shared_.has_walked() ? 2 * sampling_share : sampling_share);
}

std::optional<double> TreeSampler::stall_seconds() const
{
    const auto now = stall_us();
    return now && first_stall_us_ ? std::optional{since(*first_stall_us_, *now) * 1e-6} : std::nullopt;
}

}  // namespace memsweep::engine
