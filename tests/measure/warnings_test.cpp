#include "core/measure/findings.hpp"

#include <algorithm>

#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;

namespace {

std::vector<model::Warning> warnings_of(const std::vector<double>& times)
{
    return noise_warnings(case_report({{"mode", "refcount"}}, {metric("wall_time", times)}));
}

std::vector<std::string> codes(const std::vector<double>& times)
{
    std::vector<std::string> found;
    for (const model::Warning& warning : warnings_of(times)) {
        CHECK_THAT(warning.message, Contains("demo/mode=refcount: wall_time"));
        CHECK_FALSE(warning.hint.empty());
        found.push_back(warning.code);
    }
    return found;
}

using Codes = std::vector<std::string>;

}  // namespace

TEST_CASE("quiet repetitions raise no warning", "[unit]")
{
    CHECK(codes({1.00, 1.02, 0.99, 1.01, 0.985, 1.005, 1.015, 0.995, 1.001, 1.0}).empty());
    CHECK(noise_warnings(case_report({}, {})).empty());
    CHECK(codes({}).empty());
}

TEST_CASE("each fault of a sample has its warning", "[unit]")
{
    CHECK(codes({1.00, 1.02, 0.99, 1.01, 0.985, 1.50, 1.015, 0.995, 1.001, 1.0}) == Codes{"outliers"});
    CHECK(codes({1.50, 1.02, 0.99, 1.01, 0.985, 1.005, 1.015, 0.995, 1.001, 1.0}) == Codes{"slow-first-repetition"});
    CHECK(codes({1.50, 1.02, 0.99, 1.01, 0.985, 1.50, 1.015, 0.995, 1.001, 1.0}) ==
          Codes{"slow-first-repetition", "outliers"});
    CHECK(codes({1.00, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007}) == Codes{"drift"});
    CHECK(codes({1.0, 1.3, 0.7, 1.2, 0.8, 1.1, 0.95, 1.02}) == Codes{"noisy"});
    CHECK(codes({1.00, 1.02, 0.99}) == Codes{"few-repetitions"});
    CHECK(codes({1e-6, 1e-6, 1e-6, 1e-6, 2e-6, 1e-6}) == Codes{"coarse-clock"});
}

TEST_CASE("drift names its direction and needs 8 values", "[unit]")
{
    CHECK_THAT(warnings_of({1.00, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007})[0].message, Contains("grows"));
    CHECK_THAT(warnings_of({1.007, 1.006, 1.005, 1.004, 1.003, 1.002, 1.001, 1.0})[0].message, Contains("shrinks"));
    CHECK(codes({1.00, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006}).empty());
}

TEST_CASE("time_per_op is judged only where there is no wall_time", "[unit]")
{
    const std::vector<double> noisy{1.0, 1.3, 0.7, 1.2, 0.8, 1.1, 0.95, 1.02};
    const auto both = noise_warnings(case_report({}, {metric("wall_time", noisy), metric("time_per_op", noisy)}));
    CHECK(both.size() == 1);
    const auto alone = noise_warnings(case_report({}, {metric("time_per_op", noisy)}));
    REQUIRE(alone.size() == 1);
    CHECK_THAT(alone[0].message, Contains("time_per_op"));
    CHECK(noise_warnings(case_report({}, {metric("minor_faults", noisy)})).empty());
}
