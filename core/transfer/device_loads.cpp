// What a load of a kernel waits for: a chain of them through host memory, a peer's or its own.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "core/device/handles.hpp"
#include "core/transfer/device_measures.hpp"

namespace memsweep::transfer {
namespace {

using base::Expected;
using device::MemoryKind;

constexpr std::uint64_t line_bytes = 128;  // of the caches of devices
constexpr std::uint64_t most_chain_bytes = 64U << 20U;
constexpr std::uint64_t first_loads = 256;
constexpr std::uint64_t most_loads = 1U << 16U;  // a sample
constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

// The offset of the line after each line, on one random cycle over all of them.
std::vector<std::uint64_t> random_cycle(std::uint64_t lines, std::uint64_t seed)
{
    std::vector<std::uint64_t> order(lines);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    base::Rng rng{seed};
    rng.shuffle(order);
    std::vector<std::uint64_t> next(lines);
    for (std::uint64_t i = 0; i < lines; ++i) {
        next[order[i]] = order[(i + 1) % lines] * line_bytes;
    }
    return next;
}

void write_links(std::byte* memory, const std::vector<std::uint64_t>& next)
{
    for (std::size_t line = 0; line < next.size(); ++line) {
        std::memcpy(memory + line * line_bytes, &next[line], word_bytes);
    }
}

class Chain {
  public:
    [[nodiscard]] static Expected<Chain> make(const DeviceTask& task)
    {
        Chain chain{task};
        const std::uint32_t owner = task.ends.second.value_or(task.ends.first);
        auto stream = device::open_stream(task.runtime, task.ends.first);
        auto memory = device::allocate(
            task.runtime, {.device = owner, .kind = task.what.host, .bytes = chain.next_.size() * line_bytes});
        auto place = device::allocate(task.runtime,
                                      {.device = task.ends.first, .kind = MemoryKind::device, .bytes = word_bytes});
        for (const base::Error* error : {stream ? nullptr : &stream.error(), memory ? nullptr : &memory.error(),
                                         place ? nullptr : &place.error()}) {
            if (error != nullptr) {
                return base::fail(*error);
            }
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

    // So many loads from where the last ones ended: seconds, by the device's clock.
    [[nodiscard]] Expected<double> follow(std::uint64_t loads)
    {
        device::Runtime& runtime = task_.runtime;
        auto latch = device::hold(runtime, stream_);
        if (!latch) {
            return base::fail(latch.error());
        }
        const auto begin = device::record(runtime, stream_);
        const auto queued = runtime.follow(stream_.id(), memory_.at(), memory_.bytes(), loads, place_.at());
        const auto end = device::record(runtime, stream_);
        const auto let_go = latch->close();
        link_ = task_.runtime.host_link(task_.ends.first);
        const auto done = runtime.wait(stream_.id());
        for (const auto& outcome : {queued, let_go, done}) {
            if (!outcome) {
                return base::fail(outcome.error());
            }
        }
        if (!begin || !end) {
            return base::fail(begin ? end.error() : begin.error());
        }
        for (std::uint64_t load = 0; load < loads; ++load) {
            expected_ = next_[expected_ / line_bytes];
        }
        return runtime.seconds_between(begin->id(), end->id());
    }

    // Whether the loads ended where the chain says.
    [[nodiscard]] Expected<std::string> verify()
    {
        std::uint64_t reached = ~std::uint64_t{0};
        return task_.runtime.copy(stream_.id(), device::at(&reached), place_.at(), word_bytes)
            .and_then([&] { return task_.runtime.wait(stream_.id()); })
            .map([&] {
                return reached == expected_ ? std::string{}
                                            : fmt::format("the chain ended at byte {}, not at {}", reached, expected_);
            });
    }

    [[nodiscard]] const std::optional<device::HostLink>& link() const { return link_; }

  private:
    explicit Chain(const DeviceTask& task)
        : task_{task},
          next_{random_cycle(std::max<std::uint64_t>(std::min(task.bytes, most_chain_bytes) / line_bytes, 2),
                             task.context.settings.seed)}
    {
    }

    [[nodiscard]] Expected<void> write()
    {
        device::Runtime& runtime = task_.runtime;
        const auto begin = [&]() -> Expected<void> {
            return runtime.fill(stream_.id(), place_.at(), std::byte{0}, word_bytes).and_then([&] {
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

}  // namespace

Expected<void> measure_loads(const DeviceTask& task, model::CaseReport& report)
{
    const auto at_rest = task.runtime.host_link(task.ends.first);
    auto chain = Chain::make(task);
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
        std::clamp(wanted, first_loads, std::min(most_loads, std::max(chain->lines(), first_loads)));
    std::vector<double> seconds;
    while (seconds.size() < task.context.settings.samples && !task.context.stopped()) {
        const auto took = chain->follow(loads);
        const auto wrong = took ? chain->verify() : Expected<std::string>{base::fail(took.error())};
        if (!wrong) {
            return base::fail(wrong.error());
        }
        if (!wrong->empty()) {
            report.status = model::Status::failed;
            report.reason = fmt::format("wrong data in sample {}: {}", seconds.size() + 1, *wrong);
            return {};
        }
        if (*took <= 0) {
            return base::fail(base::ErrorCode::device, "the device's clock did not move during a sample");
        }
        seconds.push_back(*took);
    }
    tell_latencies(seconds, loads, report);
    set_fact(report, "array_bytes", static_cast<std::int64_t>(chain->bytes()));
    set_fact(report, "line_bytes", static_cast<std::int64_t>(line_bytes));
    set_fact(report, "loads_per_sample", static_cast<std::int64_t>(loads));
    set_fact(report, "mover", std::string{"kernel"});
    set_fact(report, "from", std::string{device::name_of(task.what.host)});
    set_fact(report, "timed_by", std::string{"events of the device, queued behind a latch"});
    set_fact(report, "verified", fmt::format("{0} of {0} samples, by where the chain ended", seconds.size()));
    if (task.what.way == DeviceCase::Way::loads && task.what.host == MemoryKind::mapped) {
        set_link_facts(report, chain->link(), "under load", at_rest);
    }
    return {};
}

}  // namespace memsweep::transfer
