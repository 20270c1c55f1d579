#include "core/measure/names.hpp"

#include "core/measure/comparison.hpp"
#include "core/measure/paired_comparison.hpp"
#include "reporters/wording/reason_words.hpp"
#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;

namespace {

struct Counted {
    double allocations, allocated, peak;
    model::NameLengths names;
};

model::CaseReport counted(const char* build, const Counted& one, double step)
{
    const auto constant = [](double value) { return std::vector<double>(8, value); };
    const auto rounds = [&](double value) {
        std::vector<double> values = constant(value);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] += step * static_cast<double>(i % 3);
        }
        return values;
    };
    model::CaseReport report = case_report({{"build", build}}, {metric("allocations", rounds(one.allocations)),
                                                                metric("allocated_bytes", rounds(one.allocated)),
                                                                metric("live_bytes_peak", rounds(one.peak))});
    report.names = one.names;
    return report;
}

std::vector<MetricComparison> between(const Counted& base, const Counted& candidate, const Criteria& criteria = {},
                                      double step = 0)
{
    model::RunReport report;
    report.cases = {counted("base", base, step), counted("candidate", candidate, step)};
    return compare_rounds(report, {"build", "base"}, {"build", "candidate"}, criteria)->metrics;
}

// As a baseline of an earlier run.
std::vector<MetricComparison> of_two_runs(const Counted& base, const Counted& candidate, const Criteria& criteria = {})
{
    model::RunReport before;
    model::RunReport after;
    before.cases = {counted("base", base, 0)};
    after.cases = {counted("base", candidate, 0)};
    return compare_reports(before, after, criteria)->metrics;
}

bool all_are(const std::vector<MetricComparison>& metrics, Verdict verdict)
{
    return std::ranges::all_of(metrics, [&](const MetricComparison& one) { return one.verdict == verdict; });
}

constexpr model::NameLengths short_names{.words = 12, .paths = 30, .folder = 20, .environment = 900};

}  // namespace

TEST_CASE("names are as far apart as the longest way that they differ, and the environments", "[unit]")
{
    const auto apart = [](const model::NameLengths& other) {
        const model::CaseReport base = counted("base", {1, 1, 1, short_names}, 0);
        const model::CaseReport candidate = counted("candidate", {1, 1, 1, other}, 0);
        CHECK(names_apart({&base, &candidate}) == names_apart({&candidate, &base}));
        return names_apart({&base, &candidate});
    };
    CHECK(apart(short_names) == 0);
    CHECK(apart({.words = 12, .paths = 55, .folder = 20, .environment = 900}) == 25);
    CHECK(apart({.words = 14, .paths = 55, .folder = 45, .environment = 950}) == 75);
    model::CaseReport earlier = counted("base", {1, 1, 1, short_names}, 0);
    const model::CaseReport now = counted("candidate", {1, 1, 1, {}}, 0);
    earlier.names.reset();
    CHECK(names_apart({&earlier, &now}) == 0);
    CHECK(names_apart({nullptr, &now}) == 0);
}

// What was counted of programs in folders whose names have 4 and 120 characters.
TEST_CASE("the same program under a longer name is no regression, and one that allocates more is", "[unit]")
{
    model::NameLengths longer = short_names;
    longer.paths += 116;
    const std::vector<std::pair<Counted, Counted>> measured{
        {{1022, 174743, 141578, short_names}, {1024, 175453, 142172, longer}},             // C++
        {{3551, 7247653, 2103026, short_names}, {3560, 7265919, 2105346, longer}},         // python3
        {{2235, 228998, 172532, short_names}, {2245, 239866, 174227, longer}},             // bash
        {{451258, 28224270, 2598492, short_names}, {451258, 28213642, 2599112, longer}}};  // node
    for (const auto& [base, candidate] : measured) {
        CAPTURE(base.allocations);
        CHECK(all_are(between(base, candidate), Verdict::same));
        CHECK(all_are(of_two_runs(base, candidate), Verdict::same));
        CHECK_THAT(reporters::reason_text(between(base, candidate)[1].reason),
                   Contains("their names differ by 116 characters"));
        Counted unnamed = candidate;
        unnamed.names = base.names;
        CHECK_FALSE(all_are(between(base, unnamed), Verdict::same));
        Criteria strict;
        strict.strict_counters = true;
        CHECK_FALSE(all_are(between(base, candidate, strict), Verdict::same));
        CHECK_FALSE(all_are(of_two_runs(base, candidate, strict), Verdict::same));
        Counted more = candidate;
        more.allocations = std::ceil(candidate.allocations * 1.01);
        CHECK(between(base, more).front().verdict == Verdict::regressed);
        CHECK(of_two_runs(base, more).front().verdict == Verdict::regressed);
    }
}

TEST_CASE("however far apart names are, 1 % more calls are found", "[unit]")
{
    for (const double base : {1000.0, 30000.0, 1e7}) {
        for (const std::uint64_t apart : {0U, 1U, 10U, 200U, 4000U}) {
            CAPTURE(base, apart);
            const Threshold calls = threshold_under_names({}, model::Unit::one, base, apart);
            CHECK(beyond(calls, base, std::ceil(base / 100)));
            CHECK(beyond(calls, base, 1) == (apart == 0));
            CHECK(beyond(threshold_under_names({}, model::Unit::one, 100, apart), 100, 6) == (apart == 0));
        }
    }
    const Threshold sizes{.relative = 0.001, .absolute = 0, .at_most = 4096};
    // A bash script that lists its folder: as counted in folders whose names differ by so many characters.
    for (const auto& [apart, bytes, more] :
         {std::tuple{11U, 6498, 21}, {23U, 10154, 13}, {30U, 12914, 24}, {58U, 20288, 25}}) {
        CHECK_FALSE(beyond(threshold_under_names(sizes, model::Unit::bytes, 1.8e6, apart), 1.8e6, bytes));
        CHECK_FALSE(beyond(threshold_under_names({}, model::Unit::one, 80200, apart), 80200, more));
    }
    CHECK_FALSE(beyond(threshold_under_names(sizes, model::Unit::bytes, 1e9, 1), 1e9, 4096));
    CHECK(beyond(threshold_under_names(sizes, model::Unit::bytes, 1e6, 10), 1e6, 10000));
}

TEST_CASE("of a counter that varies 1 % more is found too", "[unit]")
{
    model::NameLengths longer = short_names;
    longer.paths += 40;
    const Counted base{23957, 4417367, 2075538, short_names};
    const Counted more{std::ceil(base.allocations * 1.01), base.allocated, base.peak, longer};
    const auto judged = [](const Counted& one, const Counted& other) {
        model::RunReport report;
        report.cases = {counted("base", one, 2), counted("candidate", other, 3)};
        return compare_rounds(report, {"build", "base"}, {"build", "candidate"}, {})->metrics.front();
    };
    CHECK(judged(base, base).verdict == Verdict::same);
    const MetricComparison found = judged(base, more);
    CAPTURE(reporters::reason_text(found.reason));
    CHECK_THAT(reporters::reason_text(found.reason), Contains("+1"));
    CHECK(found.threshold.relative == 0.005);
}
