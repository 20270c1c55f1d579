#include "core/measure/multiple_testing.hpp"

#include <set>

#include "core/base/rng.hpp"
#include "tests/measure/reference_vectors.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep::measure;

TEST_CASE("adjusted values follow Benjamini and Hochberg's definition", "[unit]")
{
    for (const AdjustmentVector& vector : adjustment_vectors) {
        const auto q = benjamini_hochberg(vector.p);
        REQUIRE(q.size() == vector.q.size());
        for (std::size_t i = 0; i < q.size(); ++i) {
            CHECK(agrees(q[i], vector.q[i]));
        }
    }
    CHECK(benjamini_hochberg({}).empty());
}

TEST_CASE("groups are selected first, then judged within at the share that was selected", "[unit]")
{
    // Group 0: Simes 0.001 * 2 = 0.002; group 2: 0.0001 * 4 = 0.0004; groups 1 and 3 show nothing, 4 has no test.
    const std::vector<std::size_t> tests{2, 5, 4, 1, 0};
    const std::vector<GroupedP> p{{0, 0.001}, {2, 0.03}, {2, 0.0001}, {1, 0.04}};
    const std::vector<double> q = benjamini_bogomolov(p, tests, 0.01);
    REQUIRE(q.size() == p.size());
    CHECK(q[0] == Approx(0.002 * 4 / 2));
    CHECK(q[1] == Approx(0.03 * 4 / 2 * 4 / 2));
    CHECK(q[2] == Approx(0.0004 * 4 / 2));
    CHECK(q[3] == Approx(0.04 * 5 * 4 / 2));
    CHECK(benjamini_bogomolov({}, tests, 0.01).empty());
}

TEST_CASE("of like groups with many tests each hardly one is named, and the same test alone would name them", "[unit]")
{
    memsweep::base::Rng rng{3};
    constexpr std::size_t fleets = 200;
    constexpr std::size_t hosts = 100;
    constexpr std::size_t quantities = 20;
    constexpr std::size_t bad = 10;
    const std::vector<std::size_t> tests(hosts, quantities);
    double false_share = 0;
    double false_share_of_one_family = 0;
    for (std::size_t fleet = 0; fleet < fleets; ++fleet) {
        std::vector<GroupedP> grouped;
        std::vector<double> p;
        for (std::size_t i = 0; i < hosts * quantities; ++i) {
            const std::size_t host = i / quantities;
            grouped.push_back(
                {host, host < bad ? 1e-9 : (static_cast<double>(rng.next() >> 11) + 0.5) / 9007199254740992.0});
            p.push_back(grouped.back().p);
        }
        const auto share = [&](const std::vector<double>& q) {
            std::set<std::size_t> named;
            for (std::size_t i = 0; i < q.size(); ++i) {
                if (q[i] <= 0.05) {
                    named.insert(grouped[i].group);
                }
            }
            return static_cast<double>(named.size() - bad) / static_cast<double>(named.size());
        };
        false_share += share(benjamini_bogomolov(grouped, tests, 0.05)) / fleets;
        false_share_of_one_family += share(benjamini_hochberg(p)) / fleets;
    }
    CHECK(false_share < 0.06);
    CHECK(false_share_of_one_family > 0.2);
}
