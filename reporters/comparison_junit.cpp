#include "reporters/comparison_junit.hpp"

#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/explain.hpp"
#include "reporters/comparison_tables.hpp"
#include "reporters/html_text.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;
using measure::Verdict;

// For content and attributes alike; U+FFFE and U+FFFF are no characters of XML.
std::string xml(std::string_view text)
{
    std::string characters;
    for (std::string rest = inert_text(text); !rest.empty();) {
        const CodePoint point = first_code_point(rest);
        append_utf8(characters, point.value == 0xFFFE || point.value == 0xFFFF ? 0xFFFD : point.value);
        rest.erase(0, point.length);
    }
    return escaped(characters);
}

struct Suite {
    std::size_t tests{}, failures{}, skipped{};
    std::string cases;
};

bool is_unjudged(Verdict verdict)
{
    return verdict == Verdict::insufficient || verdict == Verdict::added || verdict == Verdict::missing ||
           verdict == Verdict::not_comparable;
}

std::string details_of(const Comparison& comparison, const MetricComparison& metric)
{
    return xml(fmt::format("{}", fmt::join(measure::explanation(metric, comparison.noisy_metrics), "; ")));
}

std::string outcome_of(const ComparisonReport& report, const Comparison& comparison, const MetricComparison& metric,
                       Suite& suite)
{
    if (report.gate && measure::gates(metric.verdict)) {
        ++suite.failures;
        return fmt::format("   <failure type=\"{}\" message=\"{}\">{}</failure>\n", model::name_of(metric.verdict),
                           xml(metric.why), details_of(comparison, metric));
    }
    if (is_unjudged(metric.verdict)) {
        ++suite.skipped;
        return fmt::format("   <skipped message=\"{}: {}\"/>\n", model::name_of(metric.verdict), xml(metric.why));
    }
    return fmt::format("   <system-out>{}: {}</system-out>\n", model::name_of(metric.verdict), xml(metric.why));
}

// The case without its scenario, which stands before it.
std::string class_name(const Comparison& comparison, const measure::ComparedCase& one)
{
    const std::string& id = one.candidate_id.empty() ? one.base_id : one.candidate_id;
    const std::string prefix = one.scenario + "/";
    const std::string rest = id.starts_with(prefix) ? id.substr(prefix.size()) : id;
    const std::string name = rest == one.scenario ? one.scenario : fmt::format("{}.{}", one.scenario, rest);
    return comparison.is_between ? fmt::format("{} against {}", name, comparison.base.name) : name;
}

void add(const ComparisonReport& report, const Comparison& comparison, const MetricComparison& metric, Suite& suite)
{
    ++suite.tests;
    const std::string outcome = outcome_of(report, comparison, metric, suite);
    suite.cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"0\">\n{}  </testcase>\n",
                               xml(class_name(comparison, comparison.cases[metric.pair])),
                               metric.metric.empty() ? "the case" : xml(metric.metric), outcome);
}

std::string counts_of(const Suite& suite)
{
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\"", suite.tests,
                       suite.failures, suite.skipped);
}

std::string properties_of(const Comparison& comparison)
{
    std::string out = "  <properties>\n";
    const auto add_property = [&](std::string_view name, const std::string& value) {
        out += fmt::format("   <property name=\"{}\" value=\"{}\"/>\n", name, xml(value));
    };
    add_property("base", side_text(comparison.base));
    add_property("candidate", side_text(comparison.candidate));
    add_property("noisy_metrics", fmt::format("{}", comparison.noisy_metrics));
    for (const std::string& difference : comparison.overruled) {
        add_property("overruled", difference);
    }
    return out + "  </properties>\n";
}

std::string suites_of(const ComparisonReport& report, const Comparison& comparison, Suite& total)
{
    std::map<std::string, Suite> suites;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (metric->verdict != Verdict::informational) {
            add(report, comparison, *metric, suites[comparison.cases[metric->pair].scenario]);
        }
    }
    std::string out;
    for (const auto& [scenario, suite] : suites) {
        out += fmt::format(
            " <testsuite name=\"{}\" {}>\n{}{} </testsuite>\n",
            xml(fmt::format("{}: {} against {}", scenario, comparison.candidate.name, comparison.base.name)),
            counts_of(suite), properties_of(comparison), suite.cases);
        total.tests += suite.tests;
        total.failures += suite.failures;
        total.skipped += suite.skipped;
    }
    return out;
}

}  // namespace

std::string to_junit(const ComparisonReport& report)
{
    Suite total;
    std::string suites;
    for (const Comparison& comparison : report.comparisons) {
        suites += suites_of(report, comparison, total);
    }
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"memsweep compare\" {}>\n{}"
                       "</testsuites>\n",
                       counts_of(total), suites);
}

}  // namespace memsweep::reporters
