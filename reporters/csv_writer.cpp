#include "reporters/csv_writer.hpp"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "reporters/json_parts.hpp"
#include "reporters/number_text.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

std::string field(std::string_view text)
{
    std::string repaired = repaired_utf8(text);
    if (repaired.find_first_of(",\"\r\n") == std::string::npos) {
        return repaired;
    }
    std::string quoted = "\"";
    for (const char c : repaired) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string number(std::optional<double> value)
{
    return value ? number_text(*value) : std::string{};
}

std::string whole(std::uint64_t value)
{
    return fmt::format("{}", value);
}

// Fields that are written already.
std::string row(std::initializer_list<std::string_view> fields)
{
    return fmt::format("{}\r\n", fmt::join(fields, ","));
}

// The columns that every row of a case begins with.
std::string case_fields(const model::RunInfo& run, const std::string& host, const model::CaseReport& report)
{
    return fmt::format("{},{},{},{},{},{}", field(run.id), field(run.started), field(host), field(report.scenario),
                       field(report.id), field(compact(json_params(report.params))));
}

std::string metric_fields(const model::Metric& metric)
{
    return fmt::format("{},{},{}", field(metric.name), field(model::name_of(metric.unit)),
                       field(model::name_of(metric.better)));
}

std::string value_rows(const std::string& case_part, const model::CaseReport& report)
{
    const std::string status = field(model::name_of(report.status));
    std::string out;
    for (const model::Metric& metric : report.metrics) {
        const std::string metric_part = metric_fields(metric);
        for (std::size_t repetition = 0; repetition < metric.values.size(); ++repetition) {
            out += row({case_part, metric_part, whole(repetition), number(metric.values[repetition]), status});
        }
    }
    return out.empty() ? row({case_part, ",,,,", status}) : out;
}

std::string summary_fields(const model::Summary& summary)
{
    std::optional<double> low;
    std::optional<double> high;
    if (summary.ci95) {
        low = (*summary.ci95)[0];
        high = (*summary.ci95)[1];
    }
    return fmt::format("{},{},{},{},{},{},{},{}", whole(summary.n), number(summary.min), number(summary.median),
                       number(summary.mad), number(low), number(high), number(summary.mdape), whole(summary.outliers));
}

std::string summary_rows(const std::string& case_part, const model::CaseReport& report)
{
    const std::string status = field(model::name_of(report.status));
    std::string out;
    for (const model::Metric& metric : report.metrics) {
        const std::string summary = metric.summary ? summary_fields(*metric.summary) : "0,,,,,,,0";
        out += row({case_part, metric_fields(metric), summary, status});
    }
    return out.empty() ? row({case_part, ",,,,,,,,,,", status}) : out;
}

std::string series_rows(const std::string& run_part, const model::CaseReport& report)
{
    const std::string case_part = field(report.id);
    std::string out;
    for (const model::Series& series : report.series) {
        const std::string repetition = whole(series.repetition);
        const std::string name = field(series.name);
        for (std::size_t i = 0; i < std::min(series.t.size(), series.v.size()); ++i) {
            out += row({run_part, case_part, repetition, name, number(series.t[i]), number(series.v[i])});
        }
    }
    return out;
}

}  // namespace

std::string to_csv(const model::RunReport& report)
{
    std::string out = "run_id,started,host,scenario,case,params,metric,unit,better,repetition,value,status\r\n";
    for (const model::CaseReport& one : report.cases) {
        out += value_rows(case_fields(report.run, report.machine.host, one), one);
    }
    return out;
}

std::string to_csv_summary(const model::RunReport& report)
{
    std::string out = "run_id,started,host,scenario,case,params,metric,unit,better,n,min,median,mad,ci_lo,ci_hi,mdape,"
                      "outliers,status\r\n";
    for (const model::CaseReport& one : report.cases) {
        out += summary_rows(case_fields(report.run, report.machine.host, one), one);
    }
    return out;
}

std::string to_csv_series(const model::RunReport& report)
{
    std::string out = "run_id,case,repetition,series,t,value\r\n";
    const std::string run_part = field(report.run.id);
    for (const model::CaseReport& one : report.cases) {
        out += series_rows(run_part, one);
    }
    return out;
}

}  // namespace memsweep::reporters
