#include "core/model/metric_id.hpp"
#include "core/probe/device_cases.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/device/runtime.hpp"
#include "core/transfer/transfer_set.hpp"

namespace memsweep::probe {
namespace {

using base::Expected;
using device::MemoryKind;

constexpr std::uint64_t max_staged_bytes = 64U << 20U;  // both ends are written and compared by a processor
constexpr std::uint64_t pattern_seed = 1;

double seconds_since(const sys::Clock& clock, std::chrono::nanoseconds begin)
{
    return sys::seconds_of(clock.now() - begin);
}

bool goes_on(const DeviceTask& task, const std::vector<double>& samples, const model::CaseReport& report)
{
    return samples.size() < task.context.settings.samples && !task.context.stopped() &&
           report.status == model::Status::ok;
}

// Sets the samples, each of which moved so many bytes; a case that failed gets none.
void set_measured(const DeviceTask& task, const std::vector<double>& seconds, const std::vector<double>& rates,
                  std::uint64_t bytes, model::CaseReport& report)
{
    if (report.status != model::Status::ok || !set_samples(report, model::metrics::wall_time, seconds)) {
        return;
    }
    if (!rates.empty()) {
        set_values(report, model::metrics::bandwidth, rates);
        set_fact(report, "bytes_counted", std::string{"payload"});
        set_fact(report, "verified", fmt::format("{0} of {0} samples, every word", seconds.size()));
    }
    set_fact(report, "array_bytes", bytes);
    set_link_facts(report, task.runtime.host_link(task.ends.first), "right after the last sample", std::nullopt);
}

struct Span {
    double seconds{};
    device::Mismatch wrong;
};

// One prefetch, timed by the device, of memory that the other side wrote just before.
Expected<Span> prefetch_once(const DeviceTask& task, const device::Stream& stream, const device::Memory& managed)
{
    device::Runtime& runtime = task.runtime;
    const device::Pattern pattern{.seed = pattern_seed};
    const bool to_host = task.what.kind == CaseKind::prefetch_to_host;
    const std::span<std::byte> words{managed.host(), managed.bytes()};
    if (to_host) {
        std::memset(words.data(), 0, words.size());
        MEMSWEEP_TRY(runtime.write_pattern(stream.id(), managed.at(), managed.bytes(), pattern));
        MEMSWEEP_TRY(runtime.wait(stream.id()));
    } else {
        device::write_pattern(words, pattern);
    }
    const device::Side side = to_host ? device::Side::host : device::Side::device;
    const auto enqueue = [&] { return runtime.prefetch(stream.id(), managed.at(), managed.bytes(), side); };
    const double seconds = MEMSWEEP_TRY(seconds_behind_latch(runtime, stream, enqueue));
    if (to_host) {
        return Span{.seconds = seconds, .wrong = device::check_pattern(words, pattern)};
    }
    return Span{.seconds = seconds,
                .wrong = MEMSWEEP_TRY(runtime.check_pattern(stream.id(), managed.at(), managed.bytes(), pattern))};
}

}  // namespace

void fail_sample(model::CaseReport& report, std::size_t sample, std::string_view what)
{
    fail(report, fmt::format("wrong data in sample {}: {}", sample, what));
}

void set_latencies_per_call(const std::vector<double>& seconds, std::uint64_t each_of, model::CaseReport& report)
{
    std::vector<double> latencies;
    for (const double sample : seconds) {
        latencies.push_back(sample / static_cast<double>(each_of));
    }
    if (set_samples(report, model::metrics::latency, latencies)) {
        set_values(report, model::metrics::wall_time, seconds);
    }
}

Expected<void> measure_locking(const DeviceTask& task, model::CaseReport& report)
{
    const std::uint32_t number = task.ends.first;
    const sys::Clock& clock = task.context.clock;
    const auto ordinary = MEMSWEEP_TRY(
        device::allocate(task.runtime, {.device = number, .kind = MemoryKind::pageable, .bytes = task.bytes}));
    std::memset(ordinary.host(), 0, task.bytes);  // else the first lock would pay for the first touch
    std::vector<double> seconds;
    while (goes_on(task, seconds, report)) {
        const auto begin = clock.now();
        auto locked = MEMSWEEP_TRY(device::adopt(task.runtime, number, ordinary.host(), task.bytes));
        MEMSWEEP_TRY(locked.close());
        seconds.push_back(seconds_since(clock, begin));
    }
    set_measured(task, seconds, {}, task.bytes, report);
    return {};
}

Expected<void> measure_staged(const DeviceTask& task, model::CaseReport& report)
{
    const std::string device = device_word(task.ends.first);
    const std::string words = task.what.kind == CaseKind::staged_to_device
                                  ? fmt::format("host -> {0}.ce -> {0}", device)
                                  : fmt::format("{0} -> {0}.ce -> host", device);
    const auto spec = MEMSWEEP_TRY(model::parse_transfer(words));
    const std::uint64_t bytes = std::min(task.bytes, max_staged_bytes);
    model::TransferOptions options;
    options.strategy = model::Strategy::staged;
    std::vector<double> seconds;
    std::vector<double> rates;
    transfer::TransferStatistics all;
    std::uint32_t threads = 1;
    while (goes_on(task, seconds, report)) {
        auto set = MEMSWEEP_TRY(
            transfer::TransferSet::make(task.runtime, task.context.clock, {{.spec = spec, .bytes = bytes}}, options));
        const auto took = [&] { return static_cast<double>(set.statistics().wall_ns) * 1e-9; };
        std::uint64_t turns = 0;
        do {
            MEMSWEEP_TRY(set.run_turn());
            ++turns;
        } while (took() < task.context.settings.sample_seconds);
        const auto wrong = MEMSWEEP_TRY(set.check());
        if (!wrong.empty()) {
            fail_sample(report, seconds.size() + 1, wrong);
        }
        seconds.push_back(std::max(took(), 1e-9));
        rates.push_back(static_cast<double>(bytes * turns) / seconds.back());
        all += set.statistics();
        threads = set.rings(0);
    }
    set_measured(task, seconds, rates, bytes, report);
    set_fact(report, "threads", threads);
    set_fact(report, "slots", options.slots);
    set_fact(report, "chunk_bytes", all.largest_chunk_bytes);
    set_fact(report, "timed_by", std::string{"the processor's clock"});
    if (const auto overlap = all.overlap()) {
        set_fact(report, "overlap", *overlap);
    }
    return {};
}

Expected<void> measure_prefetch(const DeviceTask& task, model::CaseReport& report)
{
    auto stream = MEMSWEEP_TRY(device::open_stream(task.runtime, task.ends.first));
    auto managed = MEMSWEEP_TRY(
        device::allocate(task.runtime, {.device = task.ends.first, .kind = MemoryKind::managed, .bytes = task.bytes}));
    std::vector<double> seconds;
    std::vector<double> rates;
    while (goes_on(task, seconds, report)) {
        const auto span = MEMSWEEP_TRY(prefetch_once(task, stream, managed));
        if (span.seconds <= 0) {
            return base::fail(base::ErrorCode::device, "the device's clock did not move during a sample");
        }
        if (span.wrong.words != 0) {
            fail_sample(report, seconds.size() + 1, device::describe(span.wrong, task.bytes));
        }
        seconds.push_back(span.seconds);
        rates.push_back(static_cast<double>(task.bytes) / span.seconds);
    }
    set_measured(task, seconds, rates, task.bytes, report);
    set_fact(report, "timed_by", std::string{"events of the device, queued behind a latch"});
    return {};
}

}  // namespace memsweep::probe
