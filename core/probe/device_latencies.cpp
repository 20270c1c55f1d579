// What a load of a kernel waits for, along a chain through host memory, a peer's or its own; and what a call of the
// runtime costs, from its start until the processor knows that it is done. Nothing of the device's work is hidden
// behind a queue there: it is what a program waits for that does one small thing at a time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/base/rng.hpp"
#include "core/device/runtime.hpp"
#include "core/probe/device_cases.hpp"

namespace memsweep::probe {
namespace {

using base::Expected;
using device::MemoryKind;

constexpr std::uint64_t device_line_bytes = 128;  // of the caches of devices
constexpr std::uint64_t max_chain_bytes = 64U << 20U;
constexpr std::uint64_t first_loads = 256;
constexpr std::uint64_t max_loads = 1U << 16U;  // a sample
constexpr std::uint64_t chain_word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t kernel_bytes = 16;  // the least that a copy by a kernel moves
constexpr std::uint64_t warm_up_calls = 16;
constexpr double max_calls = 100'000;  // a sample

// The offset of the line after each line, on one random cycle over all of them.
std::vector<std::uint64_t> random_cycle(std::uint64_t lines, std::uint64_t seed)
{
    std::vector<std::uint64_t> order(lines);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    base::Rng rng{seed};
    rng.shuffle(order);
    std::vector<std::uint64_t> next(lines);
    for (std::uint64_t i = 0; i < lines; ++i) {
        next[order[i]] = order[(i + 1) % lines] * device_line_bytes;
    }
    return next;
}

void write_links(std::byte* memory, const std::vector<std::uint64_t>& next)
{
    for (std::size_t line = 0; line < next.size(); ++line) {
        std::memcpy(memory + line * device_line_bytes, &next[line], chain_word_bytes);
    }
}

class LoadChain {
  public:
    [[nodiscard]] static Expected<LoadChain> make(const DeviceTask& task)
    {
        LoadChain chain{task};
        const std::uint32_t owner = task.ends.second.value_or(task.ends.first);
        auto stream = device::open_stream(task.runtime, task.ends.first);
        auto memory = device::allocate(
            task.runtime, {.device = owner, .kind = task.what.host, .bytes = chain.next_.size() * device_line_bytes});
        auto place = device::allocate(
            task.runtime, {.device = task.ends.first, .kind = MemoryKind::device, .bytes = chain_word_bytes});
        if (const auto* const error = base::first_error(stream, memory, place)) {
            return base::fail(*error);
        }
        chain.stream_ = *std::move(stream);
        chain.memory_ = *std::move(memory);
        chain.place_ = *std::move(place);
        if (auto written = chain.write(); !written) {
            return base::fail(written.error());
        }
        return chain;
    }

    [[nodiscard]] std::uint64_t bytes() const { return memory_.bytes(); }
    [[nodiscard]] std::uint64_t lines() const { return next_.size(); }

    // Follows so many loads on from where the last ones ended. Returns seconds, by the device's clock.
    [[nodiscard]] Expected<double> follow(std::uint64_t loads)
    {
        auto seconds = seconds_behind_latch(
            task_.runtime, stream_,
            [&] { return task_.runtime.follow(stream_.id(), memory_.at(), memory_.bytes(), loads, place_.at()); },
            [&] { link_ = task_.runtime.host_link(task_.ends.first); });
        for (std::uint64_t load = 0; load < loads; ++load) {
            expected_ = next_[expected_ / device_line_bytes];
        }
        return seconds;
    }

    // Whether the loads ended where the chain says.
    [[nodiscard]] Expected<std::string> verify()
    {
        std::uint64_t reached = ~std::uint64_t{0};
        return task_.runtime.copy(stream_.id(), device::at(&reached), place_.at(), chain_word_bytes)
            .and_then([&] { return task_.runtime.wait(stream_.id()); })
            .map([&] {
                return reached == expected_ ? std::string{}
                                            : fmt::format("the chain ended at byte {}, not at {}", reached, expected_);
            });
    }

    [[nodiscard]] const std::optional<device::HostLink>& link() const { return link_; }

  private:
    explicit LoadChain(const DeviceTask& task)
        : task_{task},
          next_{random_cycle(std::max<std::uint64_t>(std::min(task.bytes, max_chain_bytes) / device_line_bytes, 2),
                             task.context.settings.seed)}
    {
    }

    [[nodiscard]] Expected<void> write()
    {
        device::Runtime& runtime = task_.runtime;
        const auto begin = [&]() -> Expected<void> {
            return runtime.fill(stream_.id(), place_.at(), std::byte{0}, chain_word_bytes).and_then([&] {
                return runtime.wait(stream_.id());
            });
        };
        if (task_.what.host == MemoryKind::mapped) {
            return runtime.map(memory_.id(), device::Access::write)
                .and_then([&](std::byte* host) {
                    write_links(host, next_);
                    return runtime.unmap(memory_.id());
                })
                .and_then(begin);
        }
        std::vector<std::byte> links(memory_.bytes());
        write_links(links.data(), next_);
        return runtime.copy(stream_.id(), memory_.at(), device::at(links.data()), links.size())
            .and_then([&] { return runtime.wait(stream_.id()); })
            .and_then(begin);
    }

    const DeviceTask& task_;
    std::vector<std::uint64_t> next_;  // by line
    std::uint64_t expected_{};         // where the loads are by now
    device::Stream stream_;
    device::Memory memory_, place_;
    std::optional<device::HostLink> link_;  // as it was while the kernel ran
};

class Calls {
  public:
    [[nodiscard]] static Expected<Calls> make(const DeviceTask& task)
    {
        Calls calls{task};
        auto stream = device::open_stream(task.runtime, task.ends.first);
        auto there = device::allocate(
            task.runtime,
            {.device = task.ends.first, .kind = MemoryKind::device, .bytes = std::max(task.bytes, 2 * kernel_bytes)});
        if (const auto* const error = base::first_error(stream, there)) {
            return base::fail(*error);
        }
        calls.stream_ = *std::move(stream);
        calls.there_ = *std::move(there);
        if (task.what.call == DeviceCall::round_trip) {
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

    // Makes so many calls, one after the other. Returns the seconds of all.
    [[nodiscard]] Expected<double> run(std::uint64_t times)
    {
        if (task_.what.call == DeviceCall::round_trip) {
            std::memset(here_.host(), ++written_, task_.bytes);
            std::memset(here_.host() + task_.bytes, 0, task_.bytes);
        }
        const auto begin = task_.context.clock.now();
        for (std::uint64_t i = 0; i < times; ++i) {
            if (auto done = once(); !done) {
                return base::fail(done.error());
            }
        }
        return sys::seconds_of(task_.context.clock.now() - begin);
    }

    [[nodiscard]] bool is_wrong() const
    {
        return task_.what.call == DeviceCall::round_trip &&
               std::memcmp(here_.host(), here_.host() + task_.bytes, task_.bytes) != 0;
    }

  private:
    explicit Calls(const DeviceTask& task) : task_{task} {}

    [[nodiscard]] Expected<void> once()
    {
        device::Runtime& runtime = task_.runtime;
        switch (task_.what.call) {
        case DeviceCall::launch:
            return runtime.copy_by_kernel(stream_.id(), there_.at(kernel_bytes), there_.at(), kernel_bytes)
                .and_then([&] { return runtime.wait(stream_.id()); });
        case DeviceCall::event:
            return device::record(runtime, stream_).and_then([&](const device::Event& event) {
                return runtime.wait(event.id());
            });
        case DeviceCall::round_trip:
            return runtime.copy(stream_.id(), there_.at(), here_.at(), task_.bytes)
                .and_then([&] { return runtime.copy(stream_.id(), here_.at(task_.bytes), there_.at(), task_.bytes); })
                .and_then([&] { return runtime.wait(stream_.id()); });
        case DeviceCall::idle_wait:
            break;
        }
        return runtime.wait(stream_.id());
    }

    const DeviceTask& task_;
    device::Stream stream_;
    device::Memory there_, here_;
    unsigned char written_{};
};

}  // namespace

Expected<void> measure_loads(const DeviceTask& task, model::CaseReport& report)
{
    const auto at_rest = task.runtime.host_link(task.ends.first);
    auto chain = LoadChain::make(task);
    if (!chain) {
        return base::fail(chain.error());
    }
    const auto warm_up = chain->follow(first_loads);
    const auto once = warm_up ? chain->follow(first_loads) : warm_up;
    if (!once) {
        return base::fail(once.error());
    }
    const double each = std::max(*once / static_cast<double>(first_loads), 1e-9);
    const auto wanted = static_cast<std::uint64_t>(std::ceil(task.context.settings.sample_seconds / each));
    const std::uint64_t loads =
        std::clamp(wanted, first_loads, std::min(max_loads, std::max(chain->lines(), first_loads)));
    std::vector<double> seconds;
    while (seconds.size() < task.context.settings.samples && !task.context.stopped()) {
        const auto took = chain->follow(loads);
        const auto wrong = took ? chain->verify() : Expected<std::string>{base::fail(took.error())};
        if (!wrong) {
            return base::fail(wrong.error());
        }
        if (!wrong->empty()) {
            fail_sample(report, seconds.size() + 1, *wrong);
            return {};
        }
        if (*took <= 0) {
            return base::fail(base::ErrorCode::device, "the device's clock did not move during a sample");
        }
        seconds.push_back(*took);
    }
    set_latencies_per_call(seconds, loads, report);
    set_fact(report, "array_bytes", chain->bytes());
    set_fact(report, "line_bytes", device_line_bytes);
    set_fact(report, "loads_per_sample", loads);
    set_fact(report, "mover", std::string{"kernel"});
    set_fact(report, "from", std::string{device::name_of(task.what.host)});
    set_fact(report, "timed_by", std::string{"events of the device, queued behind a latch"});
    set_fact(report, "verified", fmt::format("{0} of {0} samples, by where the chain ended", seconds.size()));
    if (task.what.kind == CaseKind::loads && task.what.host == MemoryKind::mapped) {
        set_link_facts(report, chain->link(), "under load", at_rest);
    }
    return {};
}

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
        static_cast<std::uint64_t>(std::clamp(std::ceil(task.context.settings.sample_seconds / each), 1.0, max_calls));
    std::vector<double> seconds;
    while (seconds.size() < task.context.settings.samples && !task.context.stopped()) {
        const auto took = calls->run(times);
        if (!took) {
            return base::fail(took.error());
        }
        if (calls->is_wrong()) {
            fail_sample(report, seconds.size() + 1, "what came back is not what was sent");
            return {};
        }
        seconds.push_back(*took);
    }
    set_latencies_per_call(seconds, times, report);
    set_fact(report, "calls_per_sample", times);
    set_fact(report, "timed_by", std::string{"the processor's clock"});
    if (task.what.call == DeviceCall::round_trip) {
        set_fact(report, "array_bytes", task.bytes);
        set_fact(report, "verified", fmt::format("{0} of {0} samples, every byte", seconds.size()));
    }
    return {};
}

}  // namespace memsweep::probe
