#include "core/engine/runner.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "core/engine/judgement.hpp"
#include "core/schedule/rounds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"
#include "tests/support/fake_executor.hpp"

using namespace memsweep;
using engine::Ending;

namespace {

model::Step alloc(std::uint64_t elements)
{
    model::AllocStep step;
    step.as = "a";
    step.shape = {elements};
    step.dtype = model::DType::uint8;
    return {.operation = step};
}

model::Plan plan_of(std::vector<std::string> ids)
{
    model::Plan plan;
    plan.name = "p";
    plan.settings.repetitions = 2;
    plan.settings.warmup = 1;
    for (std::string& id : ids) {
        model::Case one;
        one.id = std::move(id);
        one.scenario = "p";
        one.work = model::Steps{alloc(1000)};
        plan.cases.push_back(std::move(one));
    }
    return plan;
}

struct Bench {
    tests::FakeExecutor executor;
    tests::RecordingObserver observer;
    tests::FakeClock clock;
    engine::Capabilities has{.memory_bytes = 1 << 30, .numa_nodes = 1, .page_bytes = 4096, .huge_page_bytes = 2 << 20};
    model::RunReport report;
    bool interrupted{};

    void run(const model::Plan& plan, engine::RunOptions options = {})
    {
        schedule::Rounds rounds{plan};
        run(plan, rounds, std::move(options));
    }

    void run(const model::Plan& plan, schedule::Schedule& schedule, engine::RunOptions options = {})
    {
        if (!options.ends_run) {
            options.ends_run = [&](const model::CaseReport& ended) {
                return engine::ends_run(plan.assertions, false, ended);
            };
        }
        engine::Runner runner{plan, schedule, executor, observer, clock, has, std::move(options), report};
        runner.run();
        engine::judge_cases(plan.assertions, report);
        interrupted = runner.interrupted();
    }
};

using Turns = std::vector<std::string>;

}  // namespace

TEST_CASE("interleaved repetitions go round-robin after the warm-up round", "[unit]")
{
    Bench bench;
    bench.run(plan_of({"x", "y"}));
    CHECK(bench.observer.turns == Turns{"x w0", "y w0", "x r0", "y r0", "x r1", "y r1"});
    CHECK(bench.observer.ended_cases == Turns{"x", "y"});
    for (const model::CaseReport& one : bench.report.cases) {
        CHECK(one.status == model::Status::ok);
        CHECK(one.repetitions == 2);
        const model::Metric* wall = model::find_metric(one, "wall_time");
        REQUIRE(wall != nullptr);
        CHECK(wall->values.size() == 2);
        CHECK(wall->summary->median == 1e-3);
    }
}

TEST_CASE("who listens knows at the start what is left to be run", "[unit]")
{
    Bench bench;
    bench.run(plan_of({"x", "y"}));
    CHECK(bench.observer.planned.cases == 2);
    CHECK(bench.observer.planned.repetitions == 4);
    CHECK(bench.observer.planned.warmups == 2);
    CHECK(bench.observer.turns.size() == 6);

    // Of a run that goes on: x has both repetitions, y one of them.
    bench.report.cases[1].repetitions = 1;
    bench.observer = {};
    bench.run(plan_of({"x", "y"}));
    CHECK(bench.observer.planned.cases == 1);
    CHECK(bench.observer.planned.repetitions == 1);
    CHECK(bench.observer.turns == Turns{"y w0", "y r1"});

    model::Plan refused = plan_of({"x"});
    refused.requirements.numa_nodes = 8;
    Bench other;
    other.run(refused);
    CHECK(other.observer.planned.cases == 0);
    CHECK(other.observer.planned.repetitions == 0);
}

// To sum up all of them with every one took hours.
TEST_CASE("20,000 repetitions are summed up when their case ends", "[unit]")
{
    Bench bench;
    model::Plan plan = plan_of({"x"});
    plan.settings.repetitions = 20'000;
    bench.run(plan);
    REQUIRE(bench.report.cases[0].repetitions == 20'000);
    CHECK(model::find_metric(bench.report.cases[0], "wall_time")->summary->n == 20'000);
}

TEST_CASE("what an interruption leaves of a case is summed up", "[unit]")
{
    Bench bench;
    bench.executor.scripted = {{}, {}, {Ending::interrupted, ""}};
    bench.run(plan_of({"x"}));
    REQUIRE(bench.report.cases[0].repetitions == 1);
    CHECK(model::find_metric(bench.report.cases[0], "wall_time")->summary->n == 1);
}

TEST_CASE("sequential order finishes a case before the next", "[unit]")
{
    Bench bench;
    model::Plan plan = plan_of({"x", "y"});
    plan.settings.order = model::Order::sequential;
    bench.run(plan);
    CHECK(bench.observer.turns == Turns{"x w0", "x r0", "x r1", "y w0", "y r0", "y r1"});
}

TEST_CASE("a shuffled order is a permutation that its seed repeats", "[unit]")
{
    const auto turns = [](std::uint64_t seed) {
        Bench bench;
        model::Plan plan = plan_of({"a", "b", "c", "d", "e", "f"});
        plan.settings.order = model::Order::shuffled;
        plan.settings.seed = seed;
        bench.run(plan);
        return bench.observer.turns;
    };
    CHECK(turns(1) == turns(1));
    CHECK(turns(1) != turns(2));
    Turns sorted = turns(1);
    std::ranges::sort(sorted);
    CHECK(std::ranges::adjacent_find(sorted) == sorted.end());
    CHECK(sorted.size() == 18);
}

TEST_CASE("a case that fails ends alone with its reason", "[unit]")
{
    const auto [ending, status] = GENERATE(table<Ending, model::Status>({{Ending::crashed, model::Status::error},
                                                                         {Ending::refused, model::Status::error},
                                                                         {Ending::broken, model::Status::error},
                                                                         {Ending::timed_out, model::Status::timeout}}));
    Bench bench;
    bench.executor.scripted = {{}, {}, {}, {ending, "because"}};  // y's first measured repetition
    bench.run(plan_of({"x", "y"}));
    CHECK(bench.report.cases[0].status == model::Status::ok);
    CHECK(bench.report.cases[0].repetitions == 2);
    CHECK(bench.report.cases[1].status == status);
    CHECK(bench.report.cases[1].reason == "repetition 1: because");
    CHECK(bench.executor.runs == 5);  // y's second repetition is not tried
    CHECK(bench.observer.ended_cases == Turns{"y", "x"});
}

TEST_CASE("the cases of a sweep run one after another in one worker, amid those placed alone", "[unit]")
{
    Bench bench;
    model::Plan plan = plan_of({"a", "s1", "b", "s2", "d1", "d2"});
    for (const std::size_t index : {std::size_t{1}, std::size_t{3}}) {
        plan.cases[index].placement = model::Placement::sweep;
    }
    for (const std::size_t index : {std::size_t{4}, std::size_t{5}}) {
        plan.cases[index].placement = model::Placement::drain;
    }
    plan.settings.warmup = 0;
    plan.settings.repetitions = 2;
    bench.run(plan);
    CHECK(bench.observer.turns == Turns{"a r0", "s1 r0", "s2 r0", "b r0", "d1 r0", "d2 r0",  //
                                        "a r1", "s1 r1", "s2 r1", "b r1", "d1 r1", "d2 r1"});
    const std::vector<bool> round{false, true, false, false, true, false};
    CHECK(std::vector<bool>(bench.executor.kept.begin(), bench.executor.kept.begin() + 6) == round);
    CHECK(bench.executor.last_limits.drain_first);
    CHECK(bench.report.cases[3].repetitions == 2);

    Bench sequential;
    plan.settings.order = model::Order::sequential;
    sequential.run(plan);
    CHECK(sequential.observer.turns == Turns{"a r0", "a r1", "s1 r0", "s2 r0", "s1 r1", "s2 r1",  //
                                             "b r0", "b r1", "d1 r0", "d2 r0", "d1 r1", "d2 r1"});
}

TEST_CASE("a shuffled order moves sweeps, never the cases in them", "[unit]")
{
    Bench bench;
    model::Plan plan = plan_of({"a", "b", "c", "d", "s1", "s2", "s3"});
    for (const std::size_t index : {std::size_t{4}, std::size_t{5}, std::size_t{6}}) {
        plan.cases[index].placement = model::Placement::sweep;
    }
    plan.settings.order = model::Order::shuffled;
    bench.run(plan);
    for (std::size_t i = 0; i < bench.observer.turns.size(); ++i) {
        if (bench.observer.turns[i].starts_with("s1")) {
            CHECK(bench.observer.turns.at(i + 1).starts_with("s2"));
            CHECK(bench.observer.turns.at(i + 2).starts_with("s3"));
        }
    }
}

TEST_CASE("a case that fails in a sweep takes those after it, and nothing else", "[unit]")
{
    Bench bench;
    model::Plan plan = plan_of({"s1", "s2", "s3", "a"});
    for (const std::size_t index : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        plan.cases[index].placement = model::Placement::sweep;
    }
    plan.settings.warmup = 0;
    const bool measured_before = GENERATE(false, true);
    bench.executor.scripted.resize(measured_before ? 5 : 1);
    bench.executor.scripted.push_back({Ending::crashed, "because"});  // s2
    bench.run(plan);
    const auto& cases = bench.report.cases;
    CHECK(cases[0].status == model::Status::ok);
    CHECK(cases[0].repetitions == 2);
    CHECK(cases[1].status == model::Status::error);
    CHECK(cases[1].repetitions == (measured_before ? 1 : 0));
    CHECK(cases[2].repetitions == (measured_before ? 1 : 0));
    CHECK(cases[3].repetitions == 2);
    if (measured_before) {
        CHECK(cases[2].status == model::Status::ok);
        REQUIRE(bench.report.warnings.size() == 1);
        CHECK(bench.report.warnings.front().code == "sweep-cut-short");
        CHECK_THAT(bench.report.warnings.front().message, Catch::Contains("s3: 1 of 2 repetitions"));
    } else {
        CHECK(cases[2].status == model::Status::skipped);
        CHECK(cases[2].reason == "not measured: the worker of its sweep was lost in s2");
        CHECK(bench.observer.turns == Turns{"s1 r0", "s2 r0", "a r0", "s1 r1", "a r1"});
    }
    Turns ended = bench.observer.ended_cases;
    std::ranges::sort(ended);
    CHECK(ended == Turns{"a", "s1", "s2", "s3"});
}

TEST_CASE("a resumed sweep runs again what leaves something to the cases that are missing", "[unit]")
{
    Bench bench;
    model::Plan plan = plan_of({"s1", "s2", "s3"});
    for (model::Case& one : plan.cases) {
        one.placement = model::Placement::sweep;
    }
    plan.settings.warmup = 0;
    bench.executor.scripted = {{}, {}, {}, {}, {Ending::interrupted, ""}};
    bench.run(plan);
    REQUIRE(bench.report.cases[0].repetitions == 2);
    REQUIRE(bench.report.cases[1].repetitions == 1);
    bench.observer = {};
    bench.run(plan);
    CHECK(bench.observer.turns == Turns{"s1 w1", "s2 r1", "s3 r1"});
    for (const model::CaseReport& one : bench.report.cases) {
        CHECK(one.repetitions == 2);
        CHECK(one.status == model::Status::ok);
    }
}

TEST_CASE("an interruption keeps what was measured and ends no case", "[unit]")
{
    Bench bench;
    bench.executor.scripted = {{}, {}, {}, {}, {Ending::interrupted, ""}};
    bench.run(plan_of({"x", "y"}));
    CHECK(bench.interrupted);
    CHECK(bench.report.cases[0].repetitions == 1);
    CHECK(bench.report.cases[1].repetitions == 1);
    CHECK(bench.observer.ended_cases.empty());
}

TEST_CASE("a resumed run only adds what is missing", "[unit]")
{
    Bench bench;
    bench.executor.scripted = {{}, {}, {}, {}, {}, {Ending::interrupted, ""}};
    const model::Plan plan = plan_of({"x", "y"});
    bench.run(plan);
    REQUIRE(bench.report.cases[0].repetitions == 2);
    REQUIRE(bench.report.cases[1].repetitions == 1);

    bench.observer = {};
    bench.run(plan);
    CHECK(!bench.interrupted);
    CHECK(bench.observer.turns == Turns{"y w0", "y r1"});
    CHECK(bench.report.cases[0].repetitions == 2);
    CHECK(bench.report.cases[1].repetitions == 2);
    CHECK(model::find_metric(bench.report.cases[1], "wall_time")->values.size() == 2);
}

TEST_CASE("a resumed run finds each case wherever it stood, and keeps those that it leaves out behind its own",
          "[unit]")
{
    const auto with_value = [](const char* id, double seconds) {
        model::CaseReport report;
        report.id = id;
        report.status = model::Status::ok;
        report.repetitions = 2;
        report.metrics = {{.name = "wall_time", .values = {seconds, seconds}}};
        return report;
    };
    Bench bench;
    model::CaseReport broken = with_value("z", 9);
    broken.status = model::Status::error;
    bench.report.cases = {with_value("left_out", 3), with_value("y", 2), broken,
                          with_value("also_out", 4), with_value("x", 1), with_value("y", 5)};
    bench.run(plan_of({"x", "y", "z"}));
    Turns ids;
    std::vector<double> values;
    for (const model::CaseReport& one : bench.report.cases) {
        ids.push_back(one.id);
        values.push_back(*model::find_metric(one, "wall_time")->values.front());
    }
    CHECK(ids == Turns{"x", "y", "z", "left_out", "also_out"});
    CHECK(values == std::vector<double>{1, 2, 1e-3, 3, 4});  // what broke off is measured again
}

TEST_CASE("cases above the budget or with unmet needs are refused, never tried", "[unit]")
{
    Bench bench;
    model::Plan plan = plan_of({"small", "large"});
    plan.cases[1].work = model::Steps{alloc(1 << 20)};
    bench.run(plan, {.memory_budget_bytes = 1 << 16});
    CHECK(bench.report.cases[0].status == model::Status::ok);
    CHECK(bench.report.cases[1].status == model::Status::skipped);
    CHECK_THAT(bench.report.cases[1].reason, Catch::Contains("above the budget of 64.0 KiB"));
    CHECK(bench.executor.runs == 3);

    Bench on_device;
    plan = plan_of({"large"});
    plan.cases[0].work = model::Steps{alloc(1 << 20)};
    plan.cases[0].memory.resource = model::ResourceKind::device;  // only a worker knows what the device has
    on_device.run(plan, {.memory_budget_bytes = 1 << 16});
    CHECK(on_device.report.cases[0].status == model::Status::ok);
    CHECK(on_device.executor.last_estimate_bytes == 1 << 20);

    Bench needy;
    plan = plan_of({"x"});
    plan.requirements.memory_bytes = 1ULL << 40;
    needy.run(plan);
    CHECK(needy.report.cases[0].status == model::Status::skipped);
    CHECK(needy.executor.runs == 0);
}

TEST_CASE("fail-fast stops at the first case that is not ok", "[unit]")
{
    Bench bench;
    bench.executor.scripted = {{Ending::crashed, "died"}};
    bench.run(plan_of({"x", "y"}),
              {.ends_run = [](const model::CaseReport& ended) { return engine::ends_run({}, true, ended); }});
    CHECK(bench.executor.runs == 1);
    CHECK(bench.report.cases[0].reason == "warm-up 1: died");
}

TEST_CASE("a failed assertion marks its case, an aborting one ends the run", "[unit]")
{
    model::Plan plan = plan_of({"x", "y"});
    plan.settings.order = model::Order::sequential;
    model::Assertion assertion;
    assertion.text = "wall_time.median < 1us";
    assertion.expression = model::parse_expression(assertion.text).value();
    plan.assertions = {assertion};

    Bench all;
    all.run(plan);
    CHECK(all.executor.runs == 6);
    CHECK(all.report.cases[0].status == model::Status::failed);
    CHECK(model::count(all.report).assertions_failed == 2);

    plan.assertions[0].abort = true;
    Bench aborting;
    aborting.run(plan);
    CHECK(aborting.executor.runs == 3);
}

TEST_CASE("the machine's memory is touched before the first repetition and after a pause", "[unit]")
{
    Bench bench;
    std::vector<std::uint64_t> prefaults;
    engine::RunOptions options{.prefault = [&](std::uint64_t bytes) { prefaults.push_back(bytes); }};
    bench.run(plan_of({"x", "y"}), options);
    CHECK(prefaults == std::vector<std::uint64_t>{1000});

    Bench slow;
    slow.clock.tick = std::chrono::seconds{11};
    prefaults.clear();
    slow.run(plan_of({"x", "y"}), options);
    CHECK(prefaults.size() == 6);
}

TEST_CASE("the machine's pace is noted before each round and after the last, a tenth of a second apart", "[unit]")
{
    Bench bench;
    bench.clock.tick = std::chrono::seconds{1};
    engine::RunOptions options{
        .note_pace = [](model::MachineRounds& rounds) { rounds.compute_seconds.push_back(1e-3); }};
    bench.run(plan_of({"x", "y"}), options);
    REQUIRE(bench.report.calibration.rounds);
    CHECK(bench.report.calibration.rounds->compute_seconds.size() == 3);

    Bench quick;
    quick.clock.tick = std::chrono::milliseconds{1};
    quick.run(plan_of({"x", "y"}), options);
    CHECK(quick.report.calibration.rounds->compute_seconds.size() == 1);

    Bench without;
    without.run(plan_of({"x"}));
    CHECK_FALSE(without.report.calibration.rounds);
}

namespace {

class RepeatingRounds final : public schedule::Schedule {
  public:
    RepeatingRounds(schedule::Rounds rounds, int repeated) : rounds_{std::move(rounds)}, repeated_{repeated} {}

    [[nodiscard]] schedule::Next next(const model::RunReport& report) override
    {
        if (last_ && rounds_.has_ended_round() && --repeated_ == 0) {
            rounds_.repeat_round();
            return schedule::Discard{*std::exchange(last_, {})};
        }
        const schedule::Next next = rounds_.next(report);
        const auto* const turn = std::get_if<schedule::Turn>(&next);
        last_ = turn == nullptr ? std::nullopt : std::optional{turn->repetition};
        return next;
    }

  private:
    schedule::Rounds rounds_;
    int repeated_;
    std::optional<std::uint32_t> last_;
};

// Two builds on two allocators.
struct TogetherBench : Bench {
    TogetherBench()
    {
        plan = plan_of({"a0", "a1", "b0", "b1"});
        plan.settings.order = model::Order::shuffled;
        for (model::Case& one : plan.cases) {
            one.params = {{"allocator", one.id.substr(1)}, {"build", one.id.substr(0, 1)}};
        }
    }

    void run_at_once()
    {
        schedule::Rounds rounds{plan, "build"};
        run(plan, rounds);
    }

    // The round of this number, from 1, is measured again.
    void run_with_again(int round)
    {
        RepeatingRounds rounds{schedule::Rounds{plan, "build"}, round};
        run(plan, rounds);
    }

    // "a0 r3@1": of each repetition its case, its number and its place.
    [[nodiscard]] Turns places() const
    {
        Turns all;
        for (std::size_t i = 0; i < observer.turns.size(); ++i) {
            all.push_back(observer.turns[i] + "@" + std::to_string(executor.places[i]));
        }
        return all;
    }

    model::Plan plan;
};

}  // namespace

TEST_CASE("cases that differ in one axis alone go together, their places drawn for each round", "[unit]")
{
    TogetherBench bench;
    bench.plan.settings.repetitions = 40;
    bench.run_at_once();
    const Turns places = bench.places();
    REQUIRE(places.size() == 164);
    int swapped = 0;
    for (std::size_t i = 0; i < places.size(); i += 2) {
        const std::string round = places[i].substr(1, places[i].find('@') - 1);
        const bool is_swapped = places[i] == "a" + round + "@1";
        CHECK(places[i] == "a" + round + (is_swapped ? "@1" : "@0"));
        CHECK(places[i + 1] == "b" + round + (is_swapped ? "@0" : "@1"));
        swapped += is_swapped ? 1 : 0;
    }
    CHECK(swapped > 20);
    CHECK(swapped < 62);
    for (const model::CaseReport& one : bench.report.cases) {
        CHECK(one.repetitions == 40);
    }
    TogetherBench again;
    again.plan.settings.repetitions = 40;
    again.run_at_once();
    CHECK(again.places() == places);
}

TEST_CASE("of cases that go together the others go on without one that fails", "[unit]")
{
    TogetherBench bench;
    std::erase_if(bench.plan.cases, [](const model::Case& one) { return one.id.ends_with("1"); });
    bench.plan.settings.warmup = 0;
    bench.executor.scripted = {{Ending::crashed, "bad"}};
    bench.run_at_once();
    CHECK(bench.report.cases[0].status == model::Status::error);
    CHECK(bench.report.cases[1].status == model::Status::ok);
    CHECK(bench.report.cases[1].repetitions == 2);
    CHECK(bench.observer.turns == Turns{"a0 r0", "b0 r0", "b0 r1"});
}

TEST_CASE("a round of cases that go together is measured again for all of them", "[unit]")
{
    TogetherBench bench;
    std::erase_if(bench.plan.cases, [](const model::Case& one) { return one.id.ends_with("1"); });
    bench.plan.settings.warmup = 0;
    bench.run_with_again(1);
    CHECK(bench.observer.turns == Turns{"a0 r0", "b0 r0", "a0 x0", "b0 x0", "a0 r0", "b0 r0", "a0 r1", "b0 r1"});
    CHECK(bench.report.cases[0].repetitions == 2);
    CHECK(bench.report.cases[1].repetitions == 2);
    CHECK(bench.observer.ended_cases == Turns{"a0", "b0"});
}

TEST_CASE("a case whose last round is measured again goes on, and ends once more", "[unit]")
{
    TogetherBench bench;
    std::erase_if(bench.plan.cases, [](const model::Case& one) { return one.id.ends_with("1"); });
    bench.plan.settings.warmup = 0;
    bench.run_with_again(2);
    CHECK(bench.observer.turns ==
          Turns{"a0 r0", "b0 r0", "a0 r1", "b0 r1", "a0 x1 goes on", "b0 x1 goes on", "a0 r1", "b0 r1"});
    CHECK(bench.observer.ended_cases == Turns{"a0", "b0", "a0", "b0"});
    CHECK(bench.report.cases[0].repetitions == 2);
}

TEST_CASE("an interruption keeps what went together and had finished", "[unit]")
{
    TogetherBench bench;
    std::erase_if(bench.plan.cases, [](const model::Case& one) { return one.id.ends_with("1"); });
    bench.plan.settings.warmup = 0;
    bench.executor.scripted = {{Ending::interrupted, ""}, {}};
    bench.run_at_once();
    CHECK(bench.interrupted);
    CHECK(bench.report.cases[0].repetitions == 0);
    CHECK(bench.report.cases[1].repetitions == 1);
}
