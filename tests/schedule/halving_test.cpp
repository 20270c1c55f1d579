// A schedule of one's own over the Runner: successive halving, which drops the slower half of the cases after each
// rung.
#include <algorithm>
#include <string>
#include <utility>

#include "core/engine/runner.hpp"
#include "core/measure/summary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"
#include "tests/support/fake_executor.hpp"

using namespace memsweep;

namespace {

class Halving final : public schedule::Schedule {
  public:
    explicit Halving(std::size_t cases)
    {
        for (std::size_t i = 0; i < cases; ++i) {
            left_.push_back({i});
        }
    }

    [[nodiscard]] schedule::Next next(const model::RunReport& report) override
    {
        if (place_ == left_.size()) {
            place_ = 0;
            ++rung_;
            std::ranges::stable_sort(left_, {}, [&](const schedule::Group& one) { return time_of(report, one); });
            left_.resize(left_.size() / 2);
        }
        if (left_.empty()) {
            return schedule::End{};
        }
        return schedule::Turn{.cases = left_[place_++], .repetition = rung_};
    }

  private:
    static double time_of(const model::RunReport& report, const schedule::Group& group)
    {
        return *model::find_metric(report.cases[group.front()], "wall_time")->values.back();
    }

    std::vector<schedule::Group> left_;
    std::size_t place_{};
    std::uint32_t rung_{};
};

}  // namespace

TEST_CASE("a schedule of one's own decides which cases go on, and the others end with what they have", "[unit]")
{
    model::Plan plan;
    plan.settings.repetitions = 3;
    for (const char* id : {"slow", "fast", "slower", "medium"}) {
        plan.cases.push_back({.id = id, .scenario = "p", .work = model::Steps{{.operation = model::CollectStep{}}}});
    }
    tests::FakeExecutor executor;
    for (const std::int64_t ns : {30, 10, 40, 20, 10, 20, 10}) {
        executor.scripted.push_back({.reason = "", .wall_ns = ns});
    }
    tests::RecordingObserver observer;
    tests::FakeClock clock;
    model::RunReport report;
    Halving halving{plan.cases.size()};
    engine::Runner runner{plan, halving, executor, observer, clock, {.page_bytes = 4096}, {}, report};
    runner.run();
    CHECK(observer.turns ==
          std::vector<std::string>{"slow r0", "fast r0", "slower r0", "medium r0", "fast r1", "medium r1", "fast r2"});
    CHECK(observer.ended_cases == std::vector<std::string>{"fast", "slow", "slower", "medium"});
    for (const model::CaseReport& one : report.cases) {
        CHECK(one.status == model::Status::ok);
        CHECK(one.planned_repetitions == one.repetitions);
    }
}
