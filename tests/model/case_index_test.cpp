#include "core/model/case_index.hpp"

#include <cstdint>

#include "tests/support/catch.hpp"

using namespace memsweep;

namespace {

std::uint64_t comparisons = 0;

struct CountedEqual {
    bool operator()(const std::string& a, const std::string& b) const
    {
        ++comparisons;
        return a == b;
    }
};

std::vector<model::CaseReport> cases_named(std::size_t count)
{
    std::vector<model::CaseReport> cases(count);
    for (std::size_t i = 0; i < count; ++i) {
        cases[i].id = "grid/n=" + std::to_string(i);
    }
    return cases;
}

}  // namespace

TEST_CASE("a case is found by its id, the first of several", "[unit]")
{
    std::vector<model::CaseReport> cases = cases_named(3);
    cases.push_back(cases[1]);
    model::CaseIndex index{cases};
    CHECK(index.position("grid/n=1") == 1);
    CHECK(index.position("grid/n=3") == std::nullopt);
    CHECK(index.position("") == std::nullopt);
    index.add("grid/n=3", 4);
    CHECK(index.position("grid/n=3") == 4);
}

TEST_CASE("all cases of a large result are found with about one comparison each", "[unit]")
{
    constexpr std::size_t count = 20'000;
    const std::vector<model::CaseReport> cases = cases_named(count);
    const model::CaseIndex<CountedEqual> index{cases};
    comparisons = 0;
    std::size_t found = 0;
    for (auto one = cases.rbegin(); one != cases.rend(); ++one) {
        found += index.position(one->id).has_value() ? 1U : 0U;
    }
    CHECK(found == count);
    CHECK(comparisons < 4 * count);
}
