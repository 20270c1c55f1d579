// What a scenario claims of itself is what it is for: its first table shows a metric of its claims, or the scenario
// names another as its headline.
#include <algorithm>
#include <string>
#include <vector>

#include "core/model/metric.hpp"
#include "core/model/plan.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

bool is_shown_unasked(std::string_view metric)
{
    const model::ShownAt at = model::shown_of(metric).at;
    return at != model::ShownAt::nowhere && at != model::ShownAt::figures;
}

bool is_of_what_is_shown(const model::Assertion& claim)
{
    return claim.expression.explained || !claim.expression.point.empty() || is_shown_unasked(claim.expression.metric);
}

}  // namespace

TEST_CASE("every scenario of the catalog shows what it is for", "[unit]")
{
    scenarios::Surroundings surroundings = fake_surroundings();
    surroundings.read_file = scenarios::read_text_file;
    for (const std::string& path : json_files(source_path("scenarios/catalog"))) {
        INFO(path);
        const auto plan = scenarios::load(path, {}, surroundings);
        REQUIRE(plan.has_value());
        const bool claims_what_is_shown =
            plan->assertions.empty() || std::ranges::any_of(plan->assertions, is_of_what_is_shown);
        CHECK((claims_what_is_shown || !plan->settings.headline.empty()));
    }
}

TEST_CASE("what is wrong with a headline is said shortly", "[unit]")
{
    const auto errors = [](std::string_view headline) {
        return errors_of(scenario_text(R"("steps": [{"op": "collect"}], "headline": )" + std::string{headline}));
    };
    CHECK(errors(R"(["wall_time"])").empty());
    REQUIRE(errors("[]").size() == 1);
    CHECK_THAT(errors("[]").front(), Contains("must be a list of wall_time, cpu_time, time_per_op and "));
    CHECK_THAT(errors("[]").front(), EndsWith("more, not an empty list"));
    REQUIRE(errors(R"(["wal_time"])").size() == 1);
    CHECK_THAT(errors(R"(["wal_time"])").front(), Contains("did you mean \"wall_time\"?"));
}

}  // namespace memsweep::test
