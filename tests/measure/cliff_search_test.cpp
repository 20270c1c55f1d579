#include "core/measure/cliffs.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "tests/support/catch.hpp"

using namespace memsweep::measure;
using memsweep::base::Expected;

namespace {

// An allocator with one page fault per page beyond `edge`, none below it.
Expected<SizeCost> faulting(std::uint64_t bytes, std::uint64_t edge)
{
    const double pages = static_cast<double>(bytes) / 4096;
    return SizeCost{bytes, bytes > edge ? pages : 0.05, 20};
}

}  // namespace

TEST_CASE("a cliff in faults is found to the byte, wherever it lies", "[unit]")
{
    for (const std::uint64_t edge : {5'000ULL, 131'072ULL, 7'340'032ULL, 33'550'312ULL}) {
        const auto survey = find_cliffs({}, [edge](std::uint64_t bytes) { return faulting(bytes, edge); });
        REQUIRE(survey);
        REQUIRE(survey->cliffs.size() == 1);
        CHECK(survey->cliffs[0].kind == CliffKind::faults);
        CHECK(survey->cliffs[0].cheap.bytes == edge);
        CHECK(survey->cliffs[0].dear.bytes == edge + 1);
    }
}

TEST_CASE("a cost that rises with the size has no cliff", "[unit]")
{
    const auto survey = find_cliffs({}, [](std::uint64_t bytes) -> Expected<SizeCost> {
        return SizeCost{bytes, static_cast<double>(bytes) / 4096, static_cast<double>(bytes) / 100};
    });
    REQUIRE(survey);
    CHECK(survey->cliffs.empty());
}

TEST_CASE("a steep rise without an edge is no cliff", "[unit]")
{
    const auto survey = find_cliffs({}, [](std::uint64_t bytes) -> Expected<SizeCost> {
        const double over = bytes < 100'000 ? 0.0 : std::min(static_cast<double>(bytes - 100'000), 20'000.0);
        return SizeCost{bytes, 0, 20 + over / 10};
    });
    REQUIRE(survey);
    CHECK(survey->cliffs.empty());
}

TEST_CASE("one slow measurement is no cliff in time, a lasting one is", "[unit]")
{
    std::set<std::uint64_t> seen;
    const auto disturbed = find_cliffs({}, [&seen](std::uint64_t bytes) -> Expected<SizeCost> {
        const bool first = seen.insert(bytes).second;
        return SizeCost{bytes, 0, first && bytes == 16'384 ? 500.0 : 20.0};
    });
    REQUIRE(disturbed);
    CHECK(disturbed->cliffs.empty());

    const auto lasting = find_cliffs({}, [](std::uint64_t bytes) -> Expected<SizeCost> {
        return SizeCost{bytes, 0, bytes > 32'768 ? 150.0 : 34.0};
    });
    REQUIRE(lasting);
    REQUIRE(lasting->cliffs.size() == 1);
    CHECK(lasting->cliffs[0].kind == CliffKind::time);
    CHECK(lasting->cliffs[0].cheap.bytes == 32'768);
}

TEST_CASE("two cliffs are two findings, and faults are looked at before times", "[unit]")
{
    const auto survey = find_cliffs({}, [](std::uint64_t bytes) -> Expected<SizeCost> {
        return SizeCost{bytes, bytes > 7'340'032 ? static_cast<double>(bytes) / 4096 : 0.0,
                        bytes > 7'340'032 ? 5'000.0 : (bytes > 32'768 ? 150.0 : 34.0)};
    });
    REQUIRE(survey);
    REQUIRE(survey->cliffs.size() == 2);
    CHECK(survey->cliffs[0].kind == CliffKind::time);
    CHECK(survey->cliffs[1].kind == CliffKind::faults);
    CHECK(survey->cliffs[1].cheap.bytes == 7'340'032);
}

TEST_CASE("a size that cannot be measured ends the search with its error", "[unit]")
{
    const auto survey = find_cliffs({}, [](std::uint64_t bytes) -> Expected<SizeCost> {
        if (bytes > 1'000'000) {
            return memsweep::base::fail(memsweep::base::ErrorCode::invalid_input, "refused", "test");
        }
        return SizeCost{bytes, 0, 20};
    });
    REQUIRE_FALSE(survey);
    CHECK(survey.error().message == "refused");
}

TEST_CASE("the sizes of a sweep ascend from one end to the other", "[unit]")
{
    const auto sizes = sizes_of({.from = 1, .to = 1000, .per_doubling = 4});
    REQUIRE(sizes.size() > 20);
    CHECK(sizes.front() == 1);
    CHECK(sizes.back() == 1000);
    CHECK(std::is_sorted(sizes.begin(), sizes.end(), std::less_equal<>{}));
}
