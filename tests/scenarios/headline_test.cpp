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

}  // namespace memsweep::test
