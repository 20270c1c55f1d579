#include "core/engine/steps/worker_executor.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/engine/steps/read_region.hpp"
#include "core/memory/page_resources.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int worker_channel_fd = 3;
constexpr nanoseconds signal_check_interval = milliseconds{50};
// A dying worker closes its socket just before it can be reaped.
constexpr milliseconds reap_patience{2000};
constexpr std::chrono::seconds driver_patience{10};  // for a context to be taken apart

// The dynamic linker goes on without a library that it cannot load, so the worker's word decides.
void verify_allocator(const model::AllocatorSpec& allocator, Attempt& attempt)
{
    const std::string expected = sys::expected_library(allocator);
    const bool finished = attempt.ending == Ending::finished || attempt.ending == Ending::refused;
    if (!allocator.name.empty() && finished && !sys::is_same_file(attempt.allocator.library, expected)) {
        attempt.ending = Ending::broken;
        attempt.reason =
            fmt::format("the worker's malloc came from {}, not from {}",
                        attempt.allocator.library.empty() ? "nowhere known" : attempt.allocator.library, expected);
    }
}

// "the worker ended: killed by signal 9 (SIGKILL)", or who sent that signal, where the kernel has counted it.
std::string death_of(const sys::ExitStatus& status, const sys::OomKills& before)
{
    const sys::OomKills after = sys::oom_kills("/");
    if (status.signal == SIGKILL && after.in_group > before.in_group) {
        const auto limit = sys::tightest_limit(sys::cgroup_memory("/"));
        return fmt::format("out of memory: the kernel killed the worker (SIGKILL) at its control group's limit{}",
                           limit ? " of " + base::format_size(*limit) : "");
    }
    if (status.signal == SIGKILL && after.on_machine > before.on_machine) {
        return "out of memory: the kernel killed the worker (SIGKILL), the machine had no memory left";
    }
    return "the worker ended: " + status.describe();
}

// Collects working set and live bytes over time, from outside the worker. A worker that cannot be watched yields no
// working-set series.
//
// Cost     one pread of /proc/PID/status (about 4 us) and two atomic loads per sample.
class SeriesSampler {
  public:
    SeriesSampler(const model::SeriesSpec& spec, int pid) : wants_live_bytes_{spec.live_bytes}
    {
        working_set_.name = "working_set";
        live_bytes_.name = "live_bytes";
        if (spec.working_set) {
            if (auto opened = sys::ProcessWatch::open(pid)) {
                watch_.emplace(std::move(*opened));
            }
        }
    }

    // Takes a sample while the steps run; times count from the first of them. What the worker does before and after
    // them is its own: it prepares, counts what is left, and fills memory to learn what a fault costs.
    void sample(const RunRegion& region, const Gauges& gauges, std::chrono::nanoseconds now)
    {
        if (!is_running(region)) {
            return;
        }
        const std::chrono::nanoseconds started{region.header->started_ns.load(std::memory_order_relaxed)};
        const double t = std::chrono::duration<double>(now - started).count();
        const auto working_set = watch_ ? watch_->working_set_bytes() : std::nullopt;
        const std::uint32_t index = region.header->counters.load(std::memory_order_relaxed);
        const std::uint64_t live = gauges.counters[index % max_case_memories].live_bytes();
        if (!is_running(region)) {  // the steps ended while it was taken
            return;
        }
        if (working_set) {
            working_set_.t.push_back(t);
            const std::uint64_t own = region.header->own_bytes.load(std::memory_order_relaxed);
            working_set_.v.push_back(static_cast<double>(*working_set - std::min(*working_set, own)));
        }
        if (wants_live_bytes_) {
            live_bytes_.t.push_back(t);
            live_bytes_.v.push_back(static_cast<double>(live));
        }
    }

    [[nodiscard]] std::vector<model::Series> take()
    {
        std::vector<model::Series> taken;
        for (model::Series* series : {&working_set_, &live_bytes_}) {
            if (!series->t.empty()) {
                taken.push_back(std::move(*series));
            }
        }
        return taken;
    }

  private:
    static bool is_running(const RunRegion& region)
    {
        return region.header->state.load(std::memory_order_acquire) == RunState::running;
    }

    std::optional<sys::ProcessWatch> watch_;
    model::Series working_set_;
    model::Series live_bytes_;
    bool wants_live_bytes_{};
};

// Whether it makes names in /dev/shm.
bool names_memory(const StepProgram& program)
{
    return program.memory.resource == model::ResourceKind::shm ||
           std::ranges::any_of(program.instructions, is<model::ShareStep>);
}

}  // namespace

WorkerExecutor::WorkerExecutor(Options options, const sys::Clock& clock, const sys::StopSignals& signals)
    : options_{std::move(options)}, clock_{clock}, signals_{signals}
{
}

WorkerExecutor::~WorkerExecutor()
{
    end_worker();
}

// One with a driver's context is told to end and waited for: killed, it would leave the context to the driver, which
// takes it apart while the next case is measured. Any other is killed, which is quicker.
void WorkerExecutor::end_worker()
{
    if (worker_ && worker_->driver_is_open) {
        {
            const sys::Channel closed = std::move(worker_->channel);
        }
        static_cast<void>(worker_->process.wait_for(driver_patience));
    }
    worker_.reset();
}

// One kept for the next case is of no use to a case of another allocator.
base::Expected<void> WorkerExecutor::ensure_worker(const model::AllocatorSpec& allocator)
{
    if (worker_ && worker_->allocator == allocator) {
        return {};
    }
    end_worker();
    auto [ours, theirs] = MEMSWEEP_TRY(sys::Channel::pair());
    auto gauges = MEMSWEEP_TRY(sys::SharedRegion::create(sizeof(Gauges), "memsweep-gauges"));
    new (gauges.data<Gauges>()) Gauges{};
    sys::SpawnOptions spawn;
    spawn.argv = options_.worker_command;
    spawn.argv.push_back(std::to_string(worker_channel_fd));
    spawn.inherit = {{theirs.fd(), worker_channel_fd}};
    sys::put_under(allocator, spawn);
    auto process = MEMSWEEP_TRY(sys::ChildProcess::spawn(spawn));
    MEMSWEEP_TRY(ours.send("g", gauges.fd()));
    worker_.emplace(Worker{.process = std::move(process),
                           .channel = std::move(ours),
                           .gauges = std::move(gauges),
                           .allocator = allocator,
                           .oom_kills = sys::oom_kills("/")});
    return {};
}

Attempt WorkerExecutor::run(const CompiledCase& compiled, const RunLimits& limits,
                            const std::function<void(int pid)>& started)
{
    Attempt attempt;
    if (signals_.arrived()) {  // also while the harness was calibrated
        attempt.ending = Ending::interrupted;
        return attempt;
    }
    const StepProgram& program = compiled.steps();
    const auto shared = make_run_region(compiled, limits);
    const auto region = shared ? parse_run_region(*shared) : base::fail(shared.error());
    if (!region) {
        attempt.reason = base::describe(region.error());
        return attempt;
    }
    region->header->order.streaming = options_.streaming;
    if (!looked_for_left_ && names_memory(program)) {
        looked_for_left_ = true;
        sys::remove_left_shared_memory();
    }
    if (const auto ready = ensure_worker(compiled.allocator); !ready) {
        attempt.reason = "no worker could be started: " + base::describe(ready.error());
        return attempt;
    }
    attempt.pid = worker_->process.pid();
    started(attempt.pid);
    static_cast<void>(worker_->channel.send("r", shared->fd()));  // a worker that died meanwhile is seen by watch()
    watch(*region, limits, attempt);
    finish(*region, limits, attempt);
    verify_allocator(compiled.allocator, attempt);
    worker_->driver_is_open = attempt.ending == Ending::finished && region->header->record.device.driver_is_open;
    const bool shared_worker = options_.isolation == model::Isolation::none || limits.keeps_worker;
    if (!shared_worker || attempt.ending != Ending::finished) {
        end_worker();
        if (program.memory.resource == model::ResourceKind::shm) {
            memory::remove_shared_memory_of(attempt.pid);  // names that it had no time to unlink
        }
    }
    return attempt;
}

// Until the worker answers, dies, runs out of time or the user stops the run. Leaves `ending` finished for the first.
void WorkerExecutor::watch(const RunRegion& region, const RunLimits& limits, Attempt& attempt)
{
    SeriesSampler sampler{limits.series, attempt.pid};
    const bool sampling = limits.series.interval > nanoseconds::zero();
    const nanoseconds begin = clock_.now();
    const nanoseconds deadline = begin + limits.timeout;
    nanoseconds next_check = begin + signal_check_interval;
    nanoseconds next_sample = begin + limits.series.interval;
    std::array<char, 16> buffer{};
    attempt.ending = Ending::crashed;
    while (true) {
        const nanoseconds now = clock_.now();
        const nanoseconds next = sampling ? std::min(next_check, next_sample) : next_check;
        const auto message =
            worker_->channel.receive(buffer, std::clamp(next - now, nanoseconds::zero(), signal_check_interval));
        if (!message || message->closed) {
            break;
        }
        if (!message->timed_out) {
            attempt.ending = Ending::finished;
            break;
        }
        if (sampling && clock_.now() >= next_sample) {
            sampler.sample(region, *worker_->gauges.data<Gauges>(), clock_.now());
            next_sample = std::max(next_sample + limits.series.interval, clock_.now());
        }
        if (clock_.now() < next_check) {
            continue;
        }
        next_check = std::max(next_check + signal_check_interval, clock_.now());
        if (signals_.pending()) {
            attempt.ending = Ending::interrupted;
            break;
        }
        if (clock_.now() >= deadline) {
            attempt.ending = Ending::timed_out;
            break;
        }
    }
    attempt.series = sampler.take();
}

// What the region says counts when the worker answered; else how the worker ended does.
void WorkerExecutor::finish(const RunRegion& region, const RunLimits& limits, Attempt& attempt)
{
    const Ending ending = attempt.ending;
    read_region(region, attempt);
    switch (ending) {
    case Ending::finished:
        return;
    case Ending::timed_out:
        attempt.reason = fmt::format("still running after {}",
                                     base::format_duration(std::chrono::duration<double>(limits.timeout).count()));
        break;
    case Ending::crashed: {
        const auto status = worker_->process.wait_for(reap_patience);
        attempt.reason = status ? death_of(*status, worker_->oom_kills) : "the worker closed its socket and hangs";
        break;
    }
    case Ending::interrupted:
    case Ending::refused:
    case Ending::unmet:
    case Ending::broken:
        break;
    }
    attempt.ending = ending;
}

}  // namespace memsweep::engine
