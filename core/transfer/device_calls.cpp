// What a call of the runtime costs, from its start until the processor knows that it is done: nothing of the device's
// work is hidden behind a queue here, since that is what a program waits for that does one small thing at a time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/device/handles.hpp"
#include "core/transfer/device_measures.hpp"

namespace memsweep::transfer {
namespace {

using base::Expected;
using device::MemoryKind;
using Way = DeviceCase::Way;

constexpr std::uint64_t kernel_bytes = 16;  // the least that a copy by a kernel moves
constexpr std::uint64_t warm_up_calls = 16;
constexpr double most_calls = 100'000;  // a sample

class Calls {
  public:
    [[nodiscard]] static Expected<Calls> make(const DeviceTask& task)
    {
        Calls calls{task};
        auto stream = device::open_stream(task.runtime, task.ends.first);
        auto there = device::allocate(
            task.runtime,
            {.device = task.ends.first, .kind = MemoryKind::device, .bytes = std::max(task.bytes, 2 * kernel_bytes)});
        if (!stream || !there) {
            return base::fail(stream ? there.error() : stream.error());
        }
        calls.stream_ = *std::move(stream);
        calls.there_ = *std::move(there);
        if (task.what.way == Way::round_trip) {
            auto here = device::allocate(task.runtime,
                                         {.device = task.ends.first, .kind = task.what.host, .bytes = 2 * task.bytes});
            if (!here) {
                return base::fail(here.error());
            }
            calls.here_ = *std::move(here);
        } else if (auto filled = task.runtime.fill(calls.stream_.id(), calls.there_.at(), std::byte{1}, kernel_bytes);
                   !filled) {
            return base::fail(filled.error());
        }
        return calls;
    }

    // So many, one after the other: seconds in all.
    [[nodiscard]] Expected<double> run(std::uint64_t times)
    {
        if (task_.what.way == Way::round_trip) {
            std::memset(here_.host(), ++written_, task_.bytes);
            std::memset(here_.host() + task_.bytes, 0, task_.bytes);
        }
        const auto begin = task_.context.clock.now();
        for (std::uint64_t i = 0; i < times; ++i) {
            if (auto done = once(); !done) {
                return base::fail(done.error());
            }
        }
        return std::chrono::duration<double>(task_.context.clock.now() - begin).count();
    }

    [[nodiscard]] bool is_wrong() const
    {
        return task_.what.way == Way::round_trip &&
               std::memcmp(here_.host(), here_.host() + task_.bytes, task_.bytes) != 0;
    }

  private:
    explicit Calls(const DeviceTask& task) : task_{task} {}

    [[nodiscard]] Expected<void> once()
    {
        device::Runtime& runtime = task_.runtime;
        switch (task_.what.way) {
        case Way::launch:
            return runtime.copy_by_kernel(stream_.id(), there_.at(kernel_bytes), there_.at(), kernel_bytes)
                .and_then([&] { return runtime.wait(stream_.id()); });
        case Way::event:
            return device::record(runtime, stream_).and_then([&](const device::Event& event) {
                return runtime.wait(event.id());
            });
        case Way::round_trip:
            return runtime.copy(stream_.id(), there_.at(), here_.at(), task_.bytes)
                .and_then([&] { return runtime.copy(stream_.id(), here_.at(task_.bytes), there_.at(), task_.bytes); })
                .and_then([&] { return runtime.wait(stream_.id()); });
        default:
            return runtime.wait(stream_.id());
        }
    }

    const DeviceTask& task_;
    device::Stream stream_;
    device::Memory there_, here_;
    unsigned char written_{};
};

}  // namespace

Expected<void> measure_calls(const DeviceTask& asked, model::CaseReport& report)
{
    DeviceTask task = asked;
    task.bytes = asked.what.bytes;
    auto calls = Calls::make(task);
    const auto warm_up = calls ? calls->run(warm_up_calls) : Expected<double>{base::fail(calls.error())};
    const auto known = warm_up ? calls->run(warm_up_calls) : warm_up;
    if (!known) {
        return base::fail(known.error());
    }
    const double each = std::max(*known / static_cast<double>(warm_up_calls), 1e-9);
    const auto times =
        static_cast<std::uint64_t>(std::clamp(std::ceil(task.context.settings.sample_seconds / each), 1.0, most_calls));
    std::vector<double> seconds;
    while (seconds.size() < task.context.settings.samples && !task.context.stopped()) {
        const auto took = calls->run(times);
        if (!took) {
            return base::fail(took.error());
        }
        if (calls->is_wrong()) {
            report.status = model::Status::failed;
            report.reason =
                fmt::format("wrong data in sample {}: what came back is not what was sent", seconds.size() + 1);
            return {};
        }
        seconds.push_back(*took);
    }
    tell_latencies(seconds, times, report);
    set_fact(report, "calls_per_sample", static_cast<std::int64_t>(times));
    set_fact(report, "timed_by", std::string{"the processor's clock"});
    if (task.what.way == Way::round_trip) {
        set_fact(report, "array_bytes", static_cast<std::int64_t>(task.bytes));
        set_fact(report, "verified", fmt::format("{0} of {0} samples, every byte", seconds.size()));
    }
    return {};
}

}  // namespace memsweep::transfer
