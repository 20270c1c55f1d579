// Real workers on the real kernel: they measure, die, hang and are stopped, and none of them stays behind.
#include "core/engine/steps/worker_executor.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <unistd.h>

#include <fmt/format.h>

#include "core/device/open.hpp"
#include "tests/engine/steps.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

using namespace memsweep;
using namespace std::chrono_literals;
using engine::Ending;
using tests::program_of;

namespace {

engine::CompiledCase idle_for(std::chrono::nanoseconds duration)
{
    return program_of({{.operation = model::IdleStep{duration}}});
}

struct WorkerBench {
    explicit WorkerBench(model::Isolation isolation = model::Isolation::process, std::string binary = MEMSWEEP_WORKER)
        : executor{{{std::move(binary), "worker"}, isolation}, clock, signals}
    {
    }

    engine::Attempt run(
        const engine::CompiledCase& program, engine::RunLimits limits = {.timeout = 60s},
        const std::function<void(int)>& started = [](int /*pid*/) {})
    {
        return executor.run(program, limits, started);
    }

    sys::SystemClock clock;
    sys::StopSignals signals;
    engine::WorkerExecutor executor;
};

bool gone(int pid)
{
    return kill(pid, 0) != 0;
}

// Run by this process itself, on base pages that nobody has written to.
engine::Attempt on_small_pages(std::vector<model::Step> steps)
{
    model::MemorySpec pages;
    pages.resource = model::ResourceKind::pages;
    pages.pages = model::PageKind::small;
    const sys::SystemClock clock;
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    engine::InProcessExecutor executor{{clock, *probe}};
    engine::Attempt attempt = executor.run(program_of(std::move(steps), {}, pages), {}, [](int /*pid*/) {});
    REQUIRE(attempt.ending == Ending::finished);
    return attempt;
}

}  // namespace

TEST_CASE("a worker's counters, resident set and series agree on a finalizer's delay", "[machine]")
{
    constexpr std::uint64_t bytes = 4 << 20;
    const model::Step idle{.operation = model::IdleStep{50ms}};
    const auto sample = [](std::string name) { return model::Step{.operation = model::SampleStep{std::move(name)}}; };
    const engine::CompiledCase program = program_of({tests::alloc("a", bytes, model::Touch::full, 20),
                                                     {.operation = model::DropStep{"a"}},
                                                     sample("drop"),
                                                     idle,
                                                     {.operation = model::CollectStep{}},
                                                     {.operation = model::DrainStep{}},
                                                     sample("drain"),
                                                     idle},
                                                    {.mode = model::ReleaseMode::finalizer});
    WorkerBench bench;
    const engine::Attempt attempt =
        bench.run(program, {.timeout = 60s,
                            .series = {.interval = 2ms, .working_set = true, .live_bytes = true},
                            .measure_fault_cost = true});
    REQUIRE(attempt.ending == Ending::finished);
    REQUIRE(attempt.steps().points.size() == 2);
    CHECK(attempt.steps().points[0].live_bytes == 20 * bytes);
    CHECK(attempt.steps().points[1].live_bytes == 0);
    const double grown = static_cast<double>(attempt.steps().points[0].working_set_bytes -
                                             attempt.steps().record.baseline_working_set_bytes);
    CHECK(grown >= 0.97 * 20 * bytes);
    CHECK((tests::sanitized || grown <= 1.03 * 20 * bytes));
    CHECK(attempt.steps().record.fault_costs.small_page > 0);

    REQUIRE(attempt.series.size() == 2);
    for (const model::Series& series : attempt.series) {
        REQUIRE(series.t.size() == series.v.size());
        CHECK(std::is_sorted(series.t.begin(), series.t.end()));
        CHECK(*std::max_element(series.v.begin(), series.v.end()) >= 0.97 * 20 * bytes);
    }
    CHECK(attempt.series[1].v.back() == 0);

    const engine::Attempt unasked =
        bench.run(program, {.timeout = 60s, .series = {.interval = 2ms, .working_set = true}});
    REQUIRE(unasked.series.size() == 1);
    CHECK(unasked.series.front().name == "working_set");
    CHECK(gone(attempt.pid));
}

TEST_CASE("a curve ends with the steps: what the worker does for itself is not in it", "[machine]")
{
    constexpr std::uint64_t bytes = 1 << 20;
    constexpr double slack = 2 << 20;  // the kernel's counters lag behind
    const engine::CompiledCase program = program_of({tests::repeat(
        30, {tests::alloc("a", bytes, model::Touch::full, 1), {.operation = model::IdleStep{1ms}}, tests::drop("a")})});
    const engine::RunLimits limits{.timeout = 60s,
                                   .series = {.interval = 500us, .working_set = true, .live_bytes = true},
                                   .measure_fault_cost = true,
                                   .keeps_worker = true};
    for (const model::Isolation isolation : {model::Isolation::process, model::Isolation::none}) {
        WorkerBench bench{isolation};
        for (int repetition = 0; repetition < 3; ++repetition) {
            const engine::Attempt attempt = bench.run(program, limits);
            REQUIRE(attempt.ending == Ending::finished);
            CHECK(attempt.steps().record.fault_costs.small_page > 0);  // it did fill memory of its own
            const auto peak = static_cast<double>(attempt.steps().record.peak_working_set_bytes);
            for (const model::Series& series : attempt.series) {
                const double most = std::ranges::max(series.v);
                CHECK(most <= (series.name == "working_set" ? peak + slack : static_cast<double>(bytes)));
            }
        }
    }
}

TEST_CASE("a worker that is killed is a crash with its signal", "[machine]")
{
    WorkerBench bench;
    const engine::Attempt attempt = bench.run(idle_for(30s), {.timeout = 60s}, [](int pid) { kill(pid, SIGKILL); });
    CHECK(attempt.ending == Ending::crashed);
    CHECK_THAT(attempt.reason, Catch::Contains("SIGKILL"));
    CHECK(gone(attempt.pid));
    CHECK(bench.run(idle_for(1ms)).ending == Ending::finished);
}

TEST_CASE("a worker that outlives its time is killed", "[machine]")
{
    WorkerBench bench;
    const engine::Attempt attempt = bench.run(idle_for(30s), {.timeout = 100ms});
    CHECK(attempt.ending == Ending::timed_out);
    CHECK(gone(attempt.pid));
}

TEST_CASE("a stop signal ends the repetition and its worker", "[machine]")
{
    WorkerBench bench;
    const engine::Attempt attempt = bench.run(idle_for(30s), {.timeout = 60s}, [](int /*pid*/) { raise(SIGTERM); });
    CHECK(attempt.ending == Ending::interrupted);
    CHECK(bench.signals.last() == SIGTERM);
    CHECK(gone(attempt.pid));
    CHECK(bench.run(idle_for(1ms)).ending == Ending::interrupted);  // nor does anything begin after it
}

TEST_CASE("isolation decides whether repetitions share a process", "[machine]")
{
    WorkerBench fresh;
    CHECK(fresh.run(idle_for(1ms)).pid != fresh.run(idle_for(1ms)).pid);
    WorkerBench kept{model::Isolation::none};
    const engine::Attempt first = kept.run(idle_for(1ms));
    CHECK(first.pid == kept.run(idle_for(1ms)).pid);
    CHECK(!gone(first.pid));
}

TEST_CASE("a shared process keeps the garbage that an earlier case left", "[machine]")
{
    WorkerBench bench{model::Isolation::none};
    const engine::CompiledCase litter =
        program_of({tests::alloc("a", 1000, model::Touch::full, 10), {.operation = model::DropStep{"a"}}},
                   {.mode = model::ReleaseMode::finalizer});
    const engine::CompiledCase look =
        program_of({{.operation = model::SampleStep{"p"}}}, {.mode = model::ReleaseMode::finalizer});
    REQUIRE(bench.run(litter).ending == Ending::finished);
    CHECK(bench.run(look).steps().points[0].live_bytes == 10'000);

    WorkerBench isolated;
    REQUIRE(isolated.run(litter).ending == Ending::finished);
    CHECK(isolated.run(look).steps().points[0].live_bytes == 0);
}

TEST_CASE("a program that cannot be started is the harness's failure", "[machine]")
{
    WorkerBench bench{model::Isolation::process, "/nonexistent/memsweep"};
    const engine::Attempt attempt = bench.run(idle_for(1ms));
    CHECK(attempt.ending == Ending::broken);
    CHECK_THAT(attempt.reason, Catch::Contains("/nonexistent/memsweep"));
}

TEST_CASE("faults equal the base pages that are first written", "[machine]")
{
    const engine::Attempt attempt = on_small_pages({tests::alloc("a", 64 << 20, model::Touch::page, 1)});
    CHECK(attempt.steps().record.array_counts.pages_touched == 16'384);
    CHECK(attempt.steps().record.minor_faults >= 16'384);
    CHECK((tests::sanitized || attempt.steps().record.minor_faults <= 16'384 + 163));
}

TEST_CASE("what first writes to pages take is the kernel's time", "[machine]")
{
    const engine::Attempt attempt =
        on_small_pages({tests::repeat(20, {tests::alloc("a", 64 << 20, model::Touch::page, 1), tests::drop("a")})});
    // Most kernels know the shares of user and kernel by ticks of 4 ms, and scale those of the whole process by its
    // time.
    constexpr std::int64_t ticks_ns = 40'000'000;
    CAPTURE(attempt.steps().record.kernel_ns, attempt.steps().record.cpu_ns);
    CHECK((tests::sanitized || attempt.steps().record.kernel_ns > attempt.steps().record.cpu_ns / 4));
    CHECK(attempt.steps().record.kernel_ns <= 2 * attempt.steps().record.cpu_ns + ticks_ns);
}

TEST_CASE("what a case leaves in a kept worker meets the next, unless it is drained first", "[machine]")
{
    WorkerBench bench;
    const auto sample = [](std::string name) { return model::Step{.operation = model::SampleStep{std::move(name)}}; };
    const model::ReleaseSpec finalizer{.mode = model::ReleaseMode::finalizer};
    const auto leaves =
        program_of({tests::alloc("a", 1 << 20, model::Touch::full, 5), {.operation = model::DropStep{"a"}}}, finalizer);
    const auto looks = program_of({sample("start")}, finalizer);
    const auto live_at_start = [&](bool kept, bool drained) {
        const engine::Attempt first = bench.run(leaves, {.timeout = 60s, .keeps_worker = kept});
        const engine::Attempt second = bench.run(looks, {.timeout = 60s, .drain_first = drained});
        REQUIRE(first.ending == Ending::finished);
        REQUIRE(second.ending == Ending::finished);
        CHECK((first.pid == second.pid) == kept);
        CHECK(gone(second.pid));
        return second.steps().points.front().live_bytes;
    };
    CHECK(live_at_start(false, false) == 0);
    CHECK(live_at_start(true, false) == 5 << 20);
    CHECK(live_at_start(true, true) == 0);
}

TEST_CASE("a worker that dies in a sweep is not kept for the next case", "[machine]")
{
    WorkerBench bench;
    const auto quick = program_of({tests::alloc("a", 1000, model::Touch::full, 1)});
    const engine::Attempt killed =
        bench.run(idle_for(10s), {.timeout = 60s, .keeps_worker = true}, [](int pid) { kill(pid, SIGKILL); });
    CHECK(killed.ending == Ending::crashed);
    const engine::Attempt next = bench.run(quick, {.timeout = 60s, .keeps_worker = true});
    CHECK(next.ending == Ending::finished);
    CHECK(next.pid != killed.pid);
}

TEST_CASE("a worker that has opened a driver is told to end, not killed", "[device]")
{
    if (const auto runtime = device::open_opencl(); !runtime) {
        std::cout << "no OpenCL device: " << runtime.error().message << '\n';
        return;
    }
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("memsweep_ends_{}", ::getpid());
    std::filesystem::create_directory(folder);
    const auto told = folder / "told";
    model::MemorySpec memory;
    memory.resource = model::ResourceKind::pinned;
    const sys::SystemClock clock;
    const sys::StopSignals signals;
    engine::WorkerExecutor executor{
        {{"sh", "-c", fmt::format("{} \"$@\"; echo $? > {}", MEMSWEEP_WORKER, told.string()), "sh", "worker"},
         model::Isolation::process},
        clock,
        signals};
    const auto program = program_of({tests::alloc("a", 4096, model::Touch::none, 1)}, {}, memory);
    const auto attempt = executor.run(program, {.timeout = 60s}, [](int /*pid*/) {});
    INFO(attempt.reason);
    CHECK(attempt.ending == Ending::finished);
    std::string code;
    std::ifstream{told} >> code;
    CHECK(code == "0");
    std::filesystem::remove_all(folder);
}
