// Trims in a repetition: what steps take, what the policy of the memory takes, and where the time went.
#include "core/engine/compile.hpp"
#include "core/engine/steps/worker.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process_probe.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"
#include "tests/sys/fault_count.hpp"

using namespace memsweep;
using engine::Attempt;
using model::Step;
using model::TrimHow;

namespace {

constexpr std::uint64_t trimmed_array_bytes = 16'000'000;
constexpr std::uint64_t pages = 3907;
constexpr std::uint64_t whole_pages = 4096 * pages;

model::MemorySpec memfd(model::TrimPolicy policy = {})
{
    model::MemorySpec memory;
    memory.resource = model::ResourceKind::memfd;
    memory.pages = model::PageKind::small;
    memory.trim = policy;
    return memory;
}

Step alloc()
{
    model::AllocStep step;
    step.as = "a";
    step.dtype = model::DType::uint8;
    step.shape = {trimmed_array_bytes};
    step.touch = model::Touch::full;
    return {.operation = step};
}

Step trim(TrimHow how)
{
    return {.operation = model::TrimStep{"a", how}};
}

Step timed_write()
{
    return {.operation = model::WriteStep{"a", model::Touch::full}, .timed = true};
}

Attempt run(std::vector<Step> steps, model::MemorySpec memory, engine::Environment environment)
{
    model::Case one;
    one.id = "test";
    one.work = std::move(steps);
    one.memory = memory;
    engine::InProcessExecutor executor{environment};
    const auto program = engine::compile(one);
    REQUIRE(program);
    return executor.run(*program, {}, [](int /*pid*/) {});
}

Attempt run_for_real(std::vector<Step> steps, model::MemorySpec memory = memfd())
{
    const sys::SystemClock clock;
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    return run(std::move(steps), memory, {clock, *probe});
}

}  // namespace

TEST_CASE("after a soft trim every page written faults once, and the contents are there", "[machine]")
{
    const Step read{.operation = model::ReadStep{"a"}};
    const Attempt trimmed = run_for_real({alloc(), trim(TrimHow::soft), timed_write(), trim(TrimHow::soft), read});
    const Attempt left = run_for_real({alloc(), trim(TrimHow::none), timed_write(), read});
    tests::check_close(trimmed.steps().record.minor_faults, pages);
    tests::check_no_faults(left.steps().record.minor_faults, pages);
    CHECK(trimmed.steps().record.counts[model::MetricId::trims].value == 2);
    CHECK(trimmed.steps().record.counts[model::MetricId::trimmed_bytes].value == 2 * whole_pages);
    CHECK(left.steps().record.counts[model::MetricId::trims].value == 0);
    CHECK(trimmed.steps().record.array_counts.checksum == left.steps().record.array_counts.checksum);
}

TEST_CASE("a policy trims what the program can reach, only above its limit, outside all times", "[unit]")
{
    const auto trims_at = [](std::uint64_t working_set) {
        const tests::FakeClock clock;
        tests::FakeProbe probe;
        probe.rss_bytes = working_set;
        return run({alloc(), timed_write(), timed_write()}, memfd({.above_bytes = 1000, .how = TrimHow::soft}),
                   {clock, probe})
            .steps()
            .record;
    };
    CHECK(trims_at(1000).counts[model::MetricId::trims].value == 0);
    CHECK(trims_at(1001).counts[model::MetricId::trims].value == 2);  // nothing is reachable before the first step
    CHECK(trims_at(1001).counts[model::MetricId::trimmed_bytes].value == 2 * whole_pages);
    CHECK(trims_at(1001).wall_ns == trims_at(1000).wall_ns);
}

TEST_CASE("time in calls into the memory resource is the timed steps' alone", "[machine]")
{
    Step timed_alloc = alloc();
    timed_alloc.timed = true;
    const Step drop{.operation = model::DropStep{"a"}};
    CHECK(run_for_real({alloc(), timed_write(), drop}).steps().record.costs.allocator_ns == 0);
    const Attempt attempt = run_for_real({timed_alloc, drop});
    CHECK(attempt.steps().record.costs.allocator_ns > 0);
    CHECK(attempt.steps().record.costs.allocator_ns < static_cast<std::uint64_t>(attempt.steps().record.wall_ns));
    CHECK(attempt.steps().record.costs.pages_touched == pages);
    CHECK(attempt.steps().record.costs.allocated_bytes == trimmed_array_bytes);
}

TEST_CASE("a view shares memory, a copy has its own, and both outlive what they are of", "[unit]")
{
    const auto live = [](bool copy) {
        const tests::FakeClock clock;
        tests::FakeProbe probe;
        const Step take{.operation = model::ViewStep{"v", "a", 0, trimmed_array_bytes / 2, copy}};
        const Step drop{.operation = model::DropStep{"a"}};
        const Step sample{.operation = model::SampleStep{"s"}};
        const Attempt attempt = run({alloc(), take, sample, drop, sample}, memfd(), {clock, probe});
        REQUIRE(attempt.steps().points.size() == 2);
        return std::pair{attempt.steps().points[0].live_bytes, attempt.steps().points[1].live_bytes};
    };
    CHECK(live(false) == std::pair<std::uint64_t, std::uint64_t>{trimmed_array_bytes, trimmed_array_bytes});
    CHECK(live(true) == std::pair<std::uint64_t, std::uint64_t>{trimmed_array_bytes + trimmed_array_bytes / 2,
                                                                trimmed_array_bytes / 2});
}
