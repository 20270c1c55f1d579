#include "core/measure/cases.hpp"

#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;

TEST_CASE("cases of two results pair by id, not by order", "[unit]")
{
    const std::vector base{case_report({{"mode", "a"}}, {}), case_report({{"mode", "b"}}, {})};
    const std::vector candidate{case_report({{"mode", "c"}}, {}), case_report({{"mode", "a"}}, {})};
    const auto pairs = pair_by_id(base, candidate);
    REQUIRE(pairs.size() == 3);
    CHECK(pairs[0].base == &base[0]);
    CHECK(pairs[0].candidate == &candidate[1]);
    CHECK(pairs[1].base == &base[1]);
    CHECK(pairs[1].candidate == nullptr);
    CHECK(pairs[2].base == nullptr);
    CHECK(pairs[2].candidate == &candidate[0]);
}

TEST_CASE("the same id in another scenario is another case", "[unit]")
{
    const std::vector base{case_report({}, {})};
    std::vector candidate{case_report({}, {})};
    candidate[0].scenario = "other";
    CHECK(pair_by_id(base, candidate).size() == 2);
}

TEST_CASE("cases of two axis values pair when the rest is equal", "[unit]")
{
    const std::vector cases{
        case_report({{"mode", "refcount"}, {"size", "1"}}, {}), case_report({{"mode", "refcount"}, {"size", "2"}}, {}),
        case_report({{"mode", "finalizer"}, {"size", "2"}}, {}), case_report({{"mode", "leak"}, {"size", "1"}}, {})};
    const auto pairs = pair_by_value(cases, {"mode", "refcount"}, {"mode", "finalizer"});
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].base == &cases[1]);
    CHECK(pairs[0].candidate == &cases[2]);
    CHECK(pair_by_value(cases, {"mode", "refcount"}, {"mode", "nothing"}).empty());
}

TEST_CASE("values of two different axes pair over the remaining ones, never with themselves", "[unit]")
{
    const std::vector cases{case_report({{"a", "1"}, {"b", "1"}, {"c", "x"}}, {}),
                            case_report({{"a", "1"}, {"b", "2"}, {"c", "x"}}, {}),
                            case_report({{"a", "2"}, {"b", "2"}, {"c", "y"}}, {})};
    const auto pairs = pair_by_value(cases, {"a", "1"}, {"b", "2"});
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].base == &cases[0]);
    CHECK(pairs[0].candidate == &cases[1]);
}

TEST_CASE("parameters are named by name", "[unit]")
{
    const auto report = case_report({{"b", "2"}, {"a", "1"}, {"mode", "m"}}, {});
    CHECK(params_without(report, std::vector<std::string_view>{"mode"}) == std::vector<std::string>{"a=1", "b=2"});
    CHECK(has_value(report, {"a", "1"}));
    CHECK_FALSE(has_value(report, {"a", "2"}));
    CHECK_FALSE(has_value(report, {"z", "1"}));
}
