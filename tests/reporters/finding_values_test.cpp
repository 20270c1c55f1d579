#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/measure/findings.hpp"
#include "reporters/json/finding_values.hpp"
#include "reporters/json/result_json.hpp"
#include "reporters/wording/reason_words.hpp"
#include "tests/reporters/golden.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

using Parsed = nlohmann::ordered_json;
using measure::FindingKind;
using measure::Importance;

std::vector<std::string> kinds_of_schema(const char* which)
{
    const std::string text = repository_file(fmt::format("scenarios/schema/memsweep-{}-1.schema.json", which));
    return Parsed::parse(text)["definitions"]["finding"]["properties"]["kind"]["enum"];
}

}  // namespace

TEST_CASE("every kind of finding is in a schema and in the document", "[unit]")
{
    std::vector<std::string> listed;
    for (const char* which : {"result", "comparison", "history"}) {
        for (const std::string& kind : kinds_of_schema(which)) {
            if (std::ranges::find(listed, kind) == listed.end()) {  // those of call sites are in two
                listed.push_back(kind);
            }
        }
    }
    const std::string document = repository_file("docs/result-format.md");
    std::vector<std::string> named;
    for (const auto& kind : model::names<FindingKind>()) {
        named.emplace_back(kind.name);
        CHECK_THAT(document, Catch::Contains(fmt::format("| `{}` | {} |", kind.name, kind.meaning)));
    }
    CHECK(listed == named);
}

TEST_CASE("values of findings stand beside their sentences", "[unit]")
{
    const Parsed result = Parsed::parse(to_json(sample_report()));
    REQUIRE(result["findings"].size() == result["finding_values"].size());
    for (std::size_t i = 0; i < result["findings"].size(); ++i) {
        CHECK(result["finding_values"][i]["text"] == result["findings"][i]);
    }
}

TEST_CASE("of a finding only what applies is written", "[unit]")
{
    const measure::Finding finding{.kind = FindingKind::busier_machine,
                                   .importance = Importance::warning,
                                   .case_id = "demo/n=1",
                                   .metrics = {{.metric = "wall_time",
                                                .unit = model::Unit::seconds,
                                                .value = 2,
                                                .effect = measure::Shift{true, 1.1, std::array{1.0, 1.2}}},
                                               {.metric = "cpu_time", .verdict = measure::Verdict::inconclusive}},
                                   .count = 2,
                                   .reason = {.about = measure::Rule::no_round}};
    const Parsed json = Parsed::parse(pretty(finding_json(finding)));
    std::string keys;
    for (const auto& [key, value] : json.items()) {
        keys += key + " ";
    }
    CHECK(keys == "kind importance case metric unit value effect more_metrics count text ");
    CHECK(json["kind"] == "busier-machine");
    CHECK(json["importance"] == "warning");
    CHECK(json["value"] == 2);
    CHECK(json["effect"] == Parsed{{"kind", "ratio"}, {"estimate", 1.1}, {"ci95", {1.0, 1.2}}});
    CHECK(json["more_metrics"] == Parsed::array({{{"metric", "cpu_time"}, {"verdict", "inconclusive"}}}));
    CHECK(json["text"] == "demo/n=1: wall_time is inconclusive, " + reason_text({.about = measure::Rule::no_round}) +
                              " (1 more alike)");
}

}  // namespace memsweep::reporters
