#include "core/measure/likeness.hpp"

#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;

namespace {

model::RunReport report()
{
    model::RunReport made;
    made.run.scenario_name = "demo";
    made.run.scenario_fingerprint = "aaaaaaaaaaaaaaaa";
    made.machine.fingerprint = "mmmmmmmmmmmmmmmm";
    made.machine.cores = 2;
    made.machine.memory_bytes = 8ULL << 30;
    made.cases = {case_report({{"mode", "a"}}, {}), case_report({{"mode", "b"}}, {})};
    return made;
}

std::string reported(const model::RunReport& base, const model::RunReport& candidate)
{
    const auto found = differences(base, candidate);
    REQUIRE(found.size() == 1);
    return found.front();
}

}  // namespace

TEST_CASE("equal fingerprints are alike, whatever else differs", "[unit]")
{
    model::RunReport other = report();
    other.machine.host = "elsewhere";
    other.run.seed = 7;
    other.cases.pop_back();
    CHECK(differences(report(), other).empty());
}

TEST_CASE("unlike machines are named by what makes them unlike", "[unit]")
{
    model::RunReport other = report();
    other.machine.fingerprint = "nnnn";
    CHECK_THAT(reported(report(), other), Contains("the machines differ") && Contains("mmmmmmmmmmmm against nnnn"));
    other.machine.cores = 4;
    other.machine.memory_bytes = 16ULL << 30;
    CHECK(reported(report(), other) == "the machines differ: cores 2 against 4; memory in GiB 8 against 16");
}

TEST_CASE("unlike scenarios are named by name, settings or cases", "[unit]")
{
    model::RunReport other = report();
    other.run.scenario_fingerprint = "bbbbbbbbbbbbbbbb";
    CHECK_THAT(reported(report(), other), Contains("other memory, release or steps"));
    other.run.overrides = {{"variable.count", "7"}};
    CHECK_THAT(reported(report(), other), Contains("variable.count as in the file against \"7\""));
    other.cases[1] = case_report({{"mode", "c"}}, {});
    CHECK_THAT(reported(report(), other),
               Contains("only the base has demo/mode=b") && Contains("only the candidate has demo/mode=c"));
    other.run.scenario_name = "other";
    CHECK_THAT(reported(report(), other), Contains("scenario \"demo\" against \"other\""));
}

TEST_CASE("what both have decides where the assertions differ, or one has some of the other's cases", "[unit]")
{
    model::RunReport base = report();
    base.cases[0].fingerprint = "a";
    base.cases[1].fingerprint = "b";
    model::RunReport other = base;
    other.run.scenario_fingerprint = "bbbbbbbbbbbbbbbb";
    CHECK_THAT(reported(base, other), Contains("the same cases"));  // for no reason that either tells
    other.assertions.push_back({.expression = "wall_time.median >= 0s"});
    CHECK(differences(base, other).empty());
    other.assertions.clear();
    other.cases.pop_back();
    CHECK(differences(base, other).empty());
    CHECK(differences(other, base).empty());
    other.cases.push_back(case_report({{"mode", "c"}}, {}));
    CHECK_THAT(reported(base, other), Contains("only the base has demo/mode=b"));  // neither is part of the other
    other.cases.pop_back();
    other.cases[0].fingerprint = "c";
    CHECK_THAT(reported(base, other), Contains("only the base has demo/mode=b"));
    other = base;
    other.run.scenario_fingerprint = "bbbbbbbbbbbbbbbb";
    other.cases[1].fingerprint = "c";
    CHECK_THAT(reported(base, other), Contains("the same cases, but other memory, release or steps"));
    other.cases[1].fingerprint.clear();
    CHECK_THAT(reported(base, other), Contains("the same cases"));
}

TEST_CASE("what a program read tells two results apart where both know it", "[unit]")
{
    model::RunReport base = report();
    base.cases[0].facts = {{"input", std::string{"3 B, sha256 aa"}}};
    model::RunReport other = base;
    CHECK(differences(base, other).empty());
    other.cases[0].facts.clear();  // as results of before
    CHECK(differences(base, other).empty());
    other.cases[0].facts = {{"input", std::string{"4 B, sha256 bb"}}};
    CHECK_THAT(reported(base, other), Contains("read 3 B, sha256 aa against 4 B, sha256 bb"));
    other.cases[0].facts.clear();
    other.run.scenario_fingerprint = "bbbbbbbbbbbbbbbb";
    CHECK_THAT(reported(base, other), Contains("read 3 B, sha256 aa against nothing that is known"));
}

TEST_CASE("the machines are what probes of two machines compare", "[unit]")
{
    model::RunReport base = report();
    base.run.scenario_name = "probe_faults";
    base.cases[0].fingerprint = "a";
    base.cases[1].fingerprint = "b";
    model::RunReport other = base;
    CHECK(compared_machines(base, other).empty());  // nothing to say of one kind of machine
    other.machine.fingerprint = "nnnn";
    other.machine.cores = 64;
    CHECK(compared_machines(base, other) == "the machines differ: cores 2 against 64");
    other.run.scenario_fingerprint = "bbbb";
    other.cases[1] = case_report({{"mode", "c"}}, {});  // each has cases that the other's machine does not
    CHECK(compared_machines(base, other) == "the machines differ: cores 2 against 64");
    CHECK(differences(base, other).size() == 2);  // of which merging is not the judge
    other.cases[0].fingerprint = "c";             // probed in another way, as by --size
    CHECK(compared_machines(base, other).empty());
    other = base;
    other.machine.fingerprint.clear();
    CHECK(compared_machines(base, other).empty());
    other.machine.fingerprint = "nnnn";
    other.run.scenario_name = base.run.scenario_name = "churn";
    CHECK(compared_machines(base, other).empty());
}

TEST_CASE("a result without a fingerprint is like nothing, not even itself", "[unit]")
{
    model::RunReport none = report();
    none.machine.fingerprint.clear();
    CHECK_THAT(reported(none, none), Contains("fingerprint none against none"));
}

TEST_CASE("many cases on one side are counted, not listed", "[unit]")
{
    model::RunReport base = report();
    model::RunReport other = report();
    other.run.scenario_fingerprint = "bb";
    for (int i = 0; i < 1000; ++i) {
        base.cases.push_back(case_report({{"n", std::to_string(i)}}, {}));
    }
    CHECK_THAT(reported(base, other), Contains("997 more"));
    CHECK(reported(base, other).size() < 300);
}
