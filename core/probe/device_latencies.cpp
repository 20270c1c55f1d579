// What a load of a kernel waits for, along a chain through host memory, a peer's or its own; and what a call of the
// runtime costs, from its start until the processor knows that it is done. Nothing of the device's work is hidden
// behind a queue there: it is what a program waits for that does one small thing at a time.
#include <algorithm>
#include <cmath>
#include <cstring>
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
constexpr std::uint64_t cached_share = 4;  // of the cache: room for whatever else lies in it
constexpr std::uint64_t caches_to_fill = 2;
constexpr std::uint64_t first_loads = 256;
constexpr std::uint64_t max_loads = 1U << 16U;  // a sample
constexpr std::uint64_t chain_word_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t kernel_bytes = 16;  // the least that a copy by a kernel moves
constexpr std::uint64_t pair_bytes = 16;    // in units of which it does
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
        chain.stream_ = MEMSWEEP_TRY(device::open_stream(task.runtime, task.ends.first));
        chain.memory_ = MEMSWEEP_TRY(device::allocate(
            task.runtime, {.device = owner, .kind = task.what.host, .bytes = chain.next_.size() * device_line_bytes}));
        chain.place_ = MEMSWEEP_TRY(device::allocate(
            task.runtime, {.device = task.ends.first, .kind = MemoryKind::device, .bytes = chain_word_bytes}));
        if (const auto cache = task.runtime.devices()[owner].cache_bytes; chain.is_of_memory() && cache) {
            chain.owners_stream_ = MEMSWEEP_TRY(device::open_stream(task.runtime, owner));
            chain.filler_ = MEMSWEEP_TRY(device::allocate(
                task.runtime, {.device = owner, .kind = MemoryKind::device, .bytes = caches_to_fill * *cache}));
        }
        MEMSWEEP_TRY(chain.write());
        return chain;
    }

    [[nodiscard]] std::uint64_t bytes() const { return memory_.bytes(); }
    // Loads of a sample: of memory each line once at most, of a cache as often as time allows.
    [[nodiscard]] std::uint64_t most_loads() const
    {
        return is_cached() ? max_loads : std::min(max_loads, std::max<std::uint64_t>(next_.size(), first_loads));
    }

    // What the device's last cache has to do with it; empty: nothing, the memory is the host's.
    [[nodiscard]] std::string caches() const
    {
        if (is_cached()) {
            return fmt::format("the chain is in {}, followed before each sample", cache_words());
        }
        return filler_.valid()  ? fmt::format("twice {} overwritten before each sample", cache_words())
               : is_of_memory() ? "may answer: this runtime does not say how large they are"
                                : std::string{};
    }

    // Follows so many loads on from where the last ones ended. Returns seconds, by the device's clock.
    [[nodiscard]] Expected<double> follow(std::uint64_t loads)
    {
        if (is_cached()) {
            MEMSWEEP_TRY(go_on(next_.size()));
        } else if (filler_.valid()) {
            MEMSWEEP_TRY(task_.runtime.write_pattern(owners_stream_.id(), filler_.at(), filler_.bytes(),
                                                     {.seed = task_.context.settings.seed}));
            MEMSWEEP_TRY(task_.runtime.wait(owners_stream_.id()));
        }
        return go_on(loads);
    }

    // Whether the loads ended where the chain says.
    [[nodiscard]] Expected<std::string> verify()
    {
        std::uint64_t reached = ~std::uint64_t{0};
        MEMSWEEP_TRY(task_.runtime.copy(stream_.id(), device::at(&reached), place_.at(), chain_word_bytes));
        MEMSWEEP_TRY(task_.runtime.wait(stream_.id()));
        return reached == expected_ ? std::string{}
                                    : fmt::format("the chain ended at byte {}, not at {}", reached, expected_);
    }

    // As they were while the kernel ran.
    [[nodiscard]] const std::optional<device::HostLink>& link() const { return link_; }
    [[nodiscard]] const std::optional<device::Clocks>& clocks() const { return clocks_; }

  private:
    explicit LoadChain(const DeviceTask& task)
        : task_{task}, next_{random_cycle(std::max<std::uint64_t>(chain_bytes(task) / device_line_bytes, 2),
                                          task.context.settings.seed)}
    {
    }

    [[nodiscard]] static std::uint64_t chain_bytes(const DeviceTask& task)
    {
        const std::uint64_t cached =
            task.runtime.devices()[task.ends.first].cache_bytes.value_or(task.bytes) / cached_share;
        return std::min(task.what.kind == CaseKind::cached_loads ? cached : task.bytes, max_chain_bytes);
    }
    [[nodiscard]] bool is_cached() const { return task_.what.kind == CaseKind::cached_loads; }
    [[nodiscard]] bool is_of_memory() const { return !is_cached() && task_.what.host == MemoryKind::device; }
    [[nodiscard]] std::string cache_words() const
    {
        const auto cache = task_.runtime.devices()[task_.ends.second.value_or(task_.ends.first)].cache_bytes;
        return fmt::format("the last cache of {}", base::exact_size(cache.value_or(0)));
    }

    [[nodiscard]] Expected<double> go_on(std::uint64_t loads)
    {
        auto seconds = seconds_behind_latch(
            task_.runtime, stream_,
            [&] { return task_.runtime.follow(stream_.id(), memory_.at(), memory_.bytes(), loads, place_.at()); },
            [&] {
                link_ = task_.runtime.host_link(task_.ends.first);
                clocks_ = task_.runtime.clocks(task_.ends.first);
            });
        for (std::uint64_t load = 0; load < loads; ++load) {
            expected_ = next_[expected_ / device_line_bytes];
        }
        return seconds;
    }

    [[nodiscard]] Expected<void> write()
    {
        device::Runtime& runtime = task_.runtime;
        std::vector<std::byte> links;
        if (task_.what.host == MemoryKind::mapped) {
            write_links(MEMSWEEP_TRY(runtime.map(memory_.id(), device::Access::write)), next_);
            MEMSWEEP_TRY(runtime.unmap(memory_.id()));
        } else {
            links.resize(memory_.bytes());
            write_links(links.data(), next_);
            MEMSWEEP_TRY(runtime.copy(stream_.id(), memory_.at(), device::at(links.data()), links.size()));
        }
        MEMSWEEP_TRY(runtime.fill(stream_.id(), place_.at(), std::byte{0}, chain_word_bytes));
        return runtime.wait(stream_.id());
    }

    const DeviceTask& task_;
    std::vector<std::uint64_t> next_;  // by line
    std::uint64_t expected_{};         // where the loads are by now
    device::Stream stream_, owners_stream_;
    device::Memory memory_, place_, filler_;  // filler: written to drive the chain out of the owner's last cache
    std::optional<device::HostLink> link_;
    std::optional<device::Clocks> clocks_;
};

class Calls {
  public:
    [[nodiscard]] static Expected<Calls> make(const DeviceTask& task)
    {
        Calls calls{task};
        calls.stream_ = MEMSWEEP_TRY(task.what.call == DeviceCall::urgent_launch_beside
                                         ? device::open_urgent_stream(task.runtime, task.ends.first)
                                         : device::open_stream(task.runtime, task.ends.first));
        if (calls.is_beside_others()) {
            calls.other_stream_ = MEMSWEEP_TRY(device::open_stream(task.runtime, task.ends.first));
            calls.load_ = MEMSWEEP_TRY(device::allocate(
                task.runtime, {.device = task.ends.first, .kind = MemoryKind::device, .bytes = 2 * calls.load_bytes_}));
            MEMSWEEP_TRY(
                task.runtime.fill(calls.other_stream_.id(), calls.load_.at(), std::byte{1}, 2 * calls.load_bytes_));
        }
        calls.there_ = MEMSWEEP_TRY(device::allocate(
            task.runtime,
            {.device = task.ends.first, .kind = MemoryKind::device, .bytes = std::max(task.bytes, 2 * kernel_bytes)}));
        if (task.what.call == DeviceCall::round_trip) {
            calls.here_ = MEMSWEEP_TRY(device::allocate(
                task.runtime, {.device = task.ends.first, .kind = task.what.host, .bytes = 2 * task.bytes}));
        } else {
            MEMSWEEP_TRY(task.runtime.fill(calls.stream_.id(), calls.there_.at(), std::byte{1}, kernel_bytes));
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
        if (is_beside_others()) {
            return run_beside_others(times);
        }
        const auto begin = task_.context.clock.now();
        for (std::uint64_t i = 0; i < times; ++i) {
            MEMSWEEP_TRY(once());
        }
        return sys::seconds_of(task_.context.clock.now() - begin);
    }

    [[nodiscard]] bool is_beside_others() const
    {
        return task_.what.call == DeviceCall::launch_beside || task_.what.call == DeviceCall::urgent_launch_beside;
    }
    [[nodiscard]] std::uint64_t load_bytes() const { return load_bytes_; }

    [[nodiscard]] bool is_wrong() const
    {
        return task_.what.call == DeviceCall::round_trip &&
               std::memcmp(here_.host(), here_.host() + task_.bytes, task_.bytes) != 0;
    }

  private:
    explicit Calls(const DeviceTask& task) : task_{task}, load_bytes_{task.load_bytes / pair_bytes * pair_bytes} {}

    // Only calls that returned while the device still had other work count.
    [[nodiscard]] Expected<double> run_beside_others(std::uint64_t times)
    {
        constexpr std::uint64_t tries = 16;
        double seconds = 0;
        std::uint64_t counted = 0;
        for (std::uint64_t i = 0; i < tries * times && counted < times; ++i) {
            MEMSWEEP_TRY(keep_busy());
            const auto begin = task_.context.clock.now();
            MEMSWEEP_TRY(once());
            const double took = sys::seconds_of(task_.context.clock.now() - begin);
            if (!MEMSWEEP_TRY(task_.runtime.happened(busy_until_.id()))) {
                seconds += took;
                ++counted;
            }
        }
        return counted == times ? Expected<double>{seconds}
                                : base::fail(base::ErrorCode::not_supported,
                                             "the device was done with its other work before the calls returned");
    }

    // Gives the device kernels that fill it, where it is done with those it had.
    [[nodiscard]] Expected<void> keep_busy()
    {
        constexpr int kernels_ahead = 16;
        if (busy_until_.valid() && !MEMSWEEP_TRY(task_.runtime.happened(busy_until_.id()))) {
            return {};
        }
        for (int i = 0; i < kernels_ahead; ++i) {
            MEMSWEEP_TRY(
                task_.runtime.copy_by_kernel(other_stream_.id(), load_.at(load_bytes_), load_.at(), load_bytes_));
        }
        busy_until_ = MEMSWEEP_TRY(device::record(task_.runtime, other_stream_));
        return {};
    }

    [[nodiscard]] Expected<void> once()
    {
        device::Runtime& runtime = task_.runtime;
        switch (task_.what.call) {
        case DeviceCall::launch:
        case DeviceCall::launch_beside:
        case DeviceCall::urgent_launch_beside:
            MEMSWEEP_TRY(runtime.copy_by_kernel(stream_.id(), there_.at(kernel_bytes), there_.at(), kernel_bytes));
            break;
        case DeviceCall::event:
            return runtime.wait(MEMSWEEP_TRY(device::record(runtime, stream_)).id());
        case DeviceCall::round_trip:
            MEMSWEEP_TRY(runtime.copy(stream_.id(), there_.at(), here_.at(), task_.bytes));
            MEMSWEEP_TRY(runtime.copy(stream_.id(), here_.at(task_.bytes), there_.at(), task_.bytes));
            break;
        case DeviceCall::idle_wait:
            break;
        }
        return runtime.wait(stream_.id());
    }

    const DeviceTask& task_;
    device::Stream stream_;
    device::Memory there_, here_;
    unsigned char written_{};
    std::uint64_t load_bytes_{};  // that each kernel of the other stream copies
    device::Memory load_;
    device::Stream other_stream_;  // behind its memory: closing it waits for its kernels
    device::Event busy_until_;
};

}  // namespace

Expected<void> measure_loads(const DeviceTask& task, model::CaseReport& report)
{
    const auto at_rest = task.runtime.host_link(task.ends.first);
    const auto clocks_at_rest = task.runtime.clocks(task.ends.first);
    auto chain = MEMSWEEP_TRY(LoadChain::make(task));
    MEMSWEEP_TRY(chain.follow(first_loads));
    const double known = MEMSWEEP_TRY(chain.follow(first_loads));
    const double each = std::max(known / static_cast<double>(first_loads), 1e-9);
    const auto wanted = static_cast<std::uint64_t>(std::ceil(task.context.settings.sample_seconds / each));
    const std::uint64_t loads = std::clamp(wanted, first_loads, chain.most_loads());
    std::vector<double> seconds;
    while (seconds.size() < task.context.settings.samples && !task.context.stopped()) {
        const double took = MEMSWEEP_TRY(chain.follow(loads));
        if (const std::string wrong = MEMSWEEP_TRY(chain.verify()); !wrong.empty()) {
            fail_sample(report, seconds.size() + 1, wrong);
            return {};
        }
        if (took <= 0) {
            return base::fail(base::ErrorCode::device, "the device's clock did not move during a sample");
        }
        seconds.push_back(took);
    }
    set_latencies_per_call(seconds, loads, report);
    set_fact(report, "array_bytes", chain.bytes());
    set_fact(report, "line_bytes", device_line_bytes);
    if (std::string caches = chain.caches(); !caches.empty()) {
        set_fact(report, "caches", std::move(caches));
    }
    set_fact(report, "loads_per_sample", loads);
    set_fact(report, "mover", std::string{"kernel"});
    set_fact(report, "from", std::string{device::name_of(task.what.host)});
    set_fact(report, "timed_by", std::string{"events of the device, queued behind a latch"});
    set_fact(report, "verified", fmt::format("{0} of {0} samples, by where the chain ended", seconds.size()));
    set_clock_facts(report, chain.clocks(), "under load", clocks_at_rest);
    if (task.what.kind == CaseKind::loads && task.what.host == MemoryKind::mapped) {
        set_link_facts(report, chain.link(), "under load", at_rest);
    }
    return {};
}

Expected<void> measure_calls(const DeviceTask& asked, model::CaseReport& report)
{
    DeviceTask task = asked;
    task.bytes = asked.what.bytes;
    task.load_bytes = asked.bytes;
    auto calls = MEMSWEEP_TRY(Calls::make(task));
    if (const auto warmed_up = calls.run(warm_up_calls); !warmed_up) {
        if (warmed_up.error().code != base::ErrorCode::not_supported) {
            return base::fail(warmed_up.error());
        }
        skip(report, warmed_up.error().message);
        return {};
    }
    const double known = MEMSWEEP_TRY(calls.run(warm_up_calls));
    const double each = std::max(known / static_cast<double>(warm_up_calls), 1e-9);
    const auto times =
        static_cast<std::uint64_t>(std::clamp(std::ceil(task.context.settings.sample_seconds / each), 1.0, max_calls));
    std::vector<double> seconds;
    while (seconds.size() < task.context.settings.samples && !task.context.stopped()) {
        const double took = MEMSWEEP_TRY(calls.run(times));
        if (calls.is_wrong()) {
            fail_sample(report, seconds.size() + 1, "what came back is not what was sent");
            return {};
        }
        seconds.push_back(took);
    }
    set_latencies_per_call(seconds, times, report);
    set_fact(report, "calls_per_sample", times);
    set_fact(report, "timed_by", std::string{"the processor's clock"});
    if (calls.is_beside_others()) {
        set_fact(report, "beside",
                 fmt::format("kernels that copy {} each, more of them than were done",
                             base::exact_size(calls.load_bytes())));
    }
    if (task.what.call == DeviceCall::round_trip) {
        set_fact(report, "array_bytes", task.bytes);
        set_fact(report, "verified", fmt::format("{0} of {0} samples, every byte", seconds.size()));
    }
    return {};
}

}  // namespace memsweep::probe
