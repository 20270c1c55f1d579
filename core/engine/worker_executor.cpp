#include "core/engine/worker_executor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/engine/region_outcome.hpp"
#include "core/engine/series_sampler.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int worker_channel_fd = 3;
constexpr nanoseconds signal_check_interval = milliseconds{50};
// A dying worker closes its socket just before it can be reaped.
constexpr milliseconds reap_patience{2000};

}  // namespace

WorkerExecutor::WorkerExecutor(Options options, const sys::Clock& clock, const sys::StopSignals& signals)
    : options_{std::move(options)}, clock_{clock}, signals_{signals}
{
}

base::Expected<void> WorkerExecutor::ensure_worker()
{
    if (worker_) {
        return {};
    }
    auto channels = sys::Channel::pair();
    auto gauges = sys::SharedRegion::create(sizeof(Gauges), "memsweep-gauges");
    if (!channels || !gauges) {
        return base::fail(channels ? gauges.error() : channels.error());
    }
    new (gauges->data<Gauges>()) Gauges{};
    auto& [ours, theirs] = *channels;
    sys::SpawnOptions spawn;
    spawn.argv = options_.worker_command;
    spawn.argv.push_back(std::to_string(worker_channel_fd));
    spawn.inherit = {{theirs.fd(), worker_channel_fd}};
    auto process = sys::ChildProcess::spawn(spawn);
    if (!process) {
        return base::fail(process.error());
    }
    if (auto sent = ours.send("g", gauges->fd()); !sent) {
        return sent;
    }
    worker_.emplace(Worker{*std::move(process), std::move(ours), *std::move(gauges)});
    return {};
}

Outcome WorkerExecutor::run(const Program& program, const RunLimits& limits,
                            const std::function<void(int pid)>& started)
{
    Outcome outcome;
    if (signals_.pending()) {
        outcome.ending = Ending::interrupted;
        return outcome;
    }
    const auto shared = make_run_region(program, limits.measure_fault_cost);
    const auto region = shared ? parse_run_region(*shared) : base::fail(shared.error());
    if (!region) {
        outcome.reason = base::describe(region.error());
        return outcome;
    }
    if (const auto ready = ensure_worker(); !ready) {
        outcome.reason = "no worker could be started: " + base::describe(ready.error());
        return outcome;
    }
    outcome.pid = worker_->process.pid();
    started(outcome.pid);
    static_cast<void>(worker_->channel.send("r", shared->fd()));  // a worker that died meanwhile is seen by watch()
    watch(*region, limits, outcome);
    finish(*region, limits, outcome);
    if (options_.isolation == model::Isolation::process || outcome.ending != Ending::finished) {
        worker_.reset();
    }
    return outcome;
}

// Until the worker answers, dies, runs out of time or the user stops the run. Leaves `ending` finished for the first.
void WorkerExecutor::watch(const RunRegion& region, const RunLimits& limits, Outcome& outcome)
{
    SeriesSampler sampler{limits.series, outcome.pid};
    const bool sampling = limits.series.interval > nanoseconds::zero();
    const nanoseconds step = sampling ? std::min(limits.series.interval, signal_check_interval) : signal_check_interval;
    const nanoseconds deadline = clock_.now() + limits.timeout;
    nanoseconds next = clock_.now() + step;
    std::array<char, 16> buffer{};
    outcome.ending = Ending::crashed;
    while (true) {
        const nanoseconds now = clock_.now();
        const auto message = worker_->channel.receive(buffer, std::clamp(next - now, nanoseconds::zero(), step));
        if (!message || message->closed) {
            break;
        }
        if (!message->timed_out) {
            outcome.ending = Ending::finished;
            break;
        }
        if (sampling) {
            sampler.sample(region, *worker_->gauges.data<Gauges>(), clock_.now());
        }
        next = std::max(next + step, clock_.now());
        if (signals_.pending()) {
            outcome.ending = Ending::interrupted;
            break;
        }
        if (clock_.now() >= deadline) {
            outcome.ending = Ending::timed_out;
            break;
        }
    }
    outcome.series = sampler.take();
}

// What the region says counts when the worker answered; else how the worker ended does.
void WorkerExecutor::finish(const RunRegion& region, const RunLimits& limits, Outcome& outcome)
{
    const Ending ending = outcome.ending;
    read_region(region, outcome);
    switch (ending) {
    case Ending::finished:
        return;
    case Ending::timed_out:
        outcome.reason = fmt::format("still running after {}",
                                     base::format_duration(std::chrono::duration<double>(limits.timeout).count()));
        break;
    case Ending::crashed: {
        const auto status = worker_->process.wait_for(reap_patience);
        outcome.reason = status ? "the worker ended: " + status->describe() : "the worker closed its socket and hangs";
        break;
    }
    case Ending::interrupted:
    case Ending::refused:
    case Ending::broken:
        break;
    }
    outcome.ending = ending;
}

}  // namespace memsweep::engine
