// Which changes make two runs incomparable.
#include <set>

#include "core/model/plan.hpp"
#include "scenarios/reader/fingerprint.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

constexpr std::string_view body = R"("variables": {"count": 3}, "axes": {"mode": ["refcount", "leak"], "n": [1, 2]},
"release": {"mode": "${axis.mode}"},
"steps": [{"op": "alloc", "as": "a", "count": "${count}", "shape": ["${axis.n}"]}, {"op": "sample", "name": "end"}],
"assert": [{"expr": "end.live_bytes.max > 0B"}])";

std::string of(std::string_view text, const scenarios::Overrides& overrides = {})
{
    return plan_of(text, overrides).fingerprint;
}

std::string replaced(std::string_view from, std::string_view to)
{
    std::string text = scenario_text(body);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("SHA-256 is SHA-256", "[unit]")
{
    CHECK(scenarios::sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(scenarios::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(plan_of(scenario_text(body)).sha256 == scenarios::sha256(scenario_text(body)));
}

TEST_CASE("a fingerprint does not change from build to build", "[unit]")
{
    // When this fails the canonical form has changed: results of before are no longer compared with results of after.
    // Raise fingerprint_version, say so in CHANGELOG.md, and put the new value here.
    CHECK(of(scenario_text(R"("steps": [{"op": "collect"}])")) ==
          "f6e5893e49f8a0297bf058abc4be42ab734778cdf226bcd150bd92c5d1997d0f");
    CHECK(of(scenario_text(body)) == "d46167ce82a8e7b3f306e6e0971ab839d4df8dc2de7780dda7198d2b3447d518");
}

TEST_CASE("a case's own fingerprint is of what it measures, not of what is asserted", "[unit]")
{
    const std::string steps = R"("steps": [{"op": "collect"}])";
    const std::string asserted = steps + R"(, "assert": [{"expr": "wall_time.median >= 0s"}])";
    const model::Plan plain = plan_of(scenario_text(steps));
    const model::Plan with = plan_of(scenario_text(asserted));
    REQUIRE(plain.cases.size() == 1);
    CHECK(plain.cases[0].fingerprint.size() == 64);
    CHECK(plain.fingerprint != with.fingerprint);
    CHECK(plain.cases[0].fingerprint == with.cases[0].fingerprint);
    const model::Plan other = plan_of(scenario_text(R"("steps": [{"op": "collect"}, {"op": "collect"}])"));
    CHECK(plain.cases[0].fingerprint != other.cases[0].fingerprint);
}

TEST_CASE("how often, when and how long a scenario runs does not count", "[unit]")
{
    const std::string base = of(scenario_text(body));
    CHECK(of(scenario_text("\"repetitions\": 3, \"warmup\": 0, \"timeout\": \"1h\", \"seed\": 5, \"order\": "
                           "\"shuffled\", \"description\": \"d\","
                           "\"x-free\": [1], // a comment\n" +
                           std::string{body})) == base);
    scenarios::Overrides overrides;
    overrides.repetitions = 99;
    overrides.warmup = 3;
    overrides.seed = 7;
    overrides.timeout = std::chrono::hours{1};
    CHECK(of(scenario_text(body), overrides) == base);
}

TEST_CASE("the spelling of the file does not count", "[unit]")
{
    const std::string base = of(scenario_text(body));
    CHECK(of(replaced("\"shape\": [", "\"shape\": [ ")) == base);
    CHECK(of(replaced("\"count\": \"${count}\"", "\"count\": 3")) == base);                 // substituted before
    CHECK(of(replaced("\"as\": \"a\"", "\"dtype\": \"float64\", \"as\": \"a\"")) == base);  // a default written out
    CHECK(of(replaced("[\"refcount\", \"leak\"], \"n\": [1, 2]", "[\"leak\", \"refcount\"], \"n\": [2, 1]")) == base);
    CHECK(of(replaced("\"mode\": [\"refcount\", \"leak\"], \"n\": [1, 2]",
                      "\"n\": [1, 2], \"mode\": [\"refcount\", \"leak\"]")) == base);
    CHECK(of(replaced("[1, 2]", "{\"from\": 1, \"to\": 2, \"step\": 1}")) == base);
    CHECK(of(replaced("{\"mode\": \"${axis.mode}\"}", "{\"mode\": \"${axis.mode}\", \"batch\": 99}")) ==
          base);  // of another mode
}

TEST_CASE("everything that is measured counts", "[unit]")
{
    const std::string base = of(scenario_text(body));
    std::set<std::string> all{base};
    const auto differs = [&](const std::string& text) { CHECK(all.insert(of(text)).second); };
    differs(replaced("\"name\": \"t\"", "\"name\": \"u\""));
    differs(replaced("[1, 2]", "[1, 2, 3]"));
    differs(replaced("[1, 2]", "[1]"));
    differs(replaced("\"count\": 3", "\"count\": 4"));
    differs(replaced("\"release\": {", "\"memory\": {\"resource\": \"pages\"}, \"release\": {"));
    differs(replaced("\"release\": {", "\"memory\": {\"limit\": 4096}, \"release\": {"));
    differs(replaced("\"${axis.mode}\"", "\"finalizer\""));
    differs(replaced("\"${axis.mode}\"", "\"finalizer\", \"gated\": true"));
    differs(replaced("\"as\": \"a\"", "\"dtype\": \"float32\", \"as\": \"a\""));
    differs(replaced("\"as\": \"a\"", "\"touch\": \"page\", \"as\": \"a\""));
    differs(replaced("\"as\": \"a\"", "\"timed\": true, \"as\": \"a\""));
    differs(replaced("\"as\": \"a\"", "\"phase\": \"p\", \"as\": \"a\""));
    differs(replaced("{\"op\": \"sample\"", "{\"op\": \"collect\"}, {\"op\": \"sample\""));
    differs(replaced("> 0B", "> 1B"));
    differs(replaced("> 0B", ">= 0B"));
    differs(replaced("\"expr\"", "\"severity\": \"warn\", \"expr\""));
    differs(replaced("\"release\": {", "\"series\": {\"interval\": \"5ms\"}, \"release\": {"));
    differs(replaced("\"release\": {", "\"isolation\": \"none\", \"release\": {"));
    differs(replaced("\"release\": {", "\"requires\": {\"numa_nodes\": 2}, \"release\": {"));
    scenarios::Overrides axis;
    axis.axes.emplace_back("n", "[1,5]");
    CHECK(all.insert(of(scenario_text(body), axis)).second);
    scenarios::Overrides variable;
    variable.variables.emplace_back("count", "5");
    CHECK(all.insert(of(scenario_text(body), variable)).second);
    scenarios::Overrides same;
    same.variables.emplace_back("count", "3");
    CHECK(of(scenario_text(body), same) == base);
}

}  // namespace memsweep::test
