#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

std::string csv(std::string_view text)
{
    return csv_text(text);
}

std::string csv(std::optional<double> value)
{
    return value ? number_text(*value) : std::string{};
}

std::string csv(std::integral auto count)
{
    return fmt::format("{}", count);
}

// Fields of a row, beside each other. What is the same in many rows is written once and copied.
template <typename First, typename... Rest>
std::string fields(const First& first, const Rest&... rest)
{
    std::string text = csv(first);
    (text.append(",").append(csv(rest)), ...);
    return text;
}

// "count=100/mode=refcount"
std::string params_text(const model::CaseReport& one)
{
    std::string text;
    for (const model::Param& param : one.params) {
        text += fmt::format("{}{}={}", text.empty() ? "" : "/", param.name, model::to_text(param.value));
    }
    return text;
}

// The columns that every row of a case begins with.
std::string case_fields(const model::RunReport& report, const model::CaseReport& one)
{
    return fields(report.run.id, report.run.started, report.machine.host, one.scenario, one.id, params_text(one));
}

// The axes of all cases, in order of appearance.
std::vector<std::string> axes_of(const model::RunReport& report)
{
    std::vector<std::string> axes;
    for (const model::CaseReport& one : report.cases) {
        for (const model::Param& param : one.params) {
            if (std::ranges::find(axes, param.name) == axes.end()) {
                axes.push_back(param.name);
            }
        }
    }
    return axes;
}

// The columns behind all others: ",axis.count,axis.mode".
std::string axis_titles(const std::vector<std::string>& axes)
{
    std::string titles;
    for (const std::string& axis : axes) {
        titles += "," + csv("axis." + axis);
    }
    return titles;
}

std::string axis_fields(const std::vector<std::string>& axes, const model::CaseReport& one)
{
    std::string text;
    for (const std::string& axis : axes) {
        text += "," + csv(measure::value_on(one, axis).value_or(""));
    }
    return text;
}

std::string metric_fields(const model::Metric& metric)
{
    return fields(metric.name, model::name_of(metric.unit), model::name_of(metric.better));
}

void write_values(TextSink& sink, const std::string& case_part, const std::string& axis_part,
                  const model::CaseReport& report)
{
    const std::string status = csv(model::name_of(report.status)) + axis_part;
    bool has_rows = false;
    for (const model::Metric& metric : report.metrics) {
        const std::string metric_part = fmt::format("{},{},", case_part, metric_fields(metric));
        for (std::size_t repetition = 0; repetition < metric.values.size(); ++repetition) {
            sink.print("{}{},{},{}\r\n", metric_part, repetition, csv(metric.values[repetition]), status);
            has_rows = true;
        }
    }
    if (!has_rows) {
        sink.print("{},,,,,,{}\r\n", case_part, status);
    }
}

// Both ends of an interval, or two empty fields.
std::string interval_fields(const std::optional<std::array<double, 2>>& interval)
{
    return interval ? fields((*interval)[0], (*interval)[1]) : ",";
}

std::string summary_fields(const model::Summary& summary)
{
    return fmt::format("{},{},{}", fields(summary.n, summary.min, summary.median, summary.mad),
                       interval_fields(summary.ci95), fields(summary.mdape, summary.outliers));
}

void write_summaries(TextSink& sink, const std::string& case_part, const std::string& axis_part,
                     const model::CaseReport& report)
{
    const std::string status = csv(model::name_of(report.status)) + axis_part;
    for (const model::Metric& metric : report.metrics) {
        const std::string summary = metric.summary ? summary_fields(*metric.summary) : "0,,,,,,,0";
        sink.print("{},{},{},{}\r\n", case_part, metric_fields(metric), summary, status);
    }
    if (report.metrics.empty()) {
        sink.print("{},,,,,,,,,,,,{}\r\n", case_part, status);
    }
}

std::string_view change_at(const measure::Trend& trend, std::size_t run)
{
    const auto found = std::ranges::find(trend.changes, run, &measure::Change::run);
    return found == trend.changes.end() ? std::string_view{} : model::name_of(found->verdict);
}

void write_trend(const measure::History& history, const measure::Trend& trend, TextSink& sink)
{
    const std::string before = fields(history.scenario, history.scenario_fingerprint, history.machine_fingerprint);
    const std::string about =
        fields(trend.case_id, trend.metric, model::name_of(trend.unit), model::name_of(trend.better));
    for (std::size_t run = 0; run < trend.points.size(); ++run) {
        if (const auto& point = trend.points[run]) {
            const measure::HistoryRun& of = history.runs[run];
            sink.print("{},{},{},{},{},{}\r\n", before, fields(run + 1, of.id, of.started, of.version), about,
                       fields(point->n, point->median), interval_fields(point->ci95), change_at(trend, run));
        }
    }
}

}  // namespace

void write_csv(const model::RunReport& report, TextSink& sink)
{
    const std::vector<std::string> axes = axes_of(report);
    sink.print("run_id,started,host,scenario,case,params,metric,unit,better,repetition,value,status{}\r\n",
               axis_titles(axes));
    for (const model::CaseReport& one : report.cases) {
        write_values(sink, case_fields(report, one), axis_fields(axes, one), one);
    }
}

void write_csv_summary(const model::RunReport& report, TextSink& sink)
{
    const std::vector<std::string> axes = axes_of(report);
    sink.print("run_id,started,host,scenario,case,params,metric,unit,better,n,min,median,mad,ci_lo,ci_hi,mdape,"
               "outliers,status{}\r\n",
               axis_titles(axes));
    for (const model::CaseReport& one : report.cases) {
        write_summaries(sink, case_fields(report, one), axis_fields(axes, one), one);
    }
}

void write_csv_series(const model::RunReport& report, TextSink& sink)
{
    sink.add("run_id,case,repetition,series,t,value\r\n");
    for (const model::CaseReport& one : report.cases) {
        for (const model::Series& series : one.series) {
            const std::string before = fields(report.run.id, one.id, series.repetition, series.name);
            for (std::size_t i = 0; i < std::min(series.t.size(), series.v.size()); ++i) {
                sink.print("{},{}\r\n", before, fields(series.t[i], series.v[i]));
            }
        }
    }
}

void write_csv_matrix(const model::RunReport& report, TextSink& sink)
{
    sink.add("matrix,row,col,value,unit\r\n");
    for (const measure::PlaceMatrix& matrix : measure::place_matrices(report.cases)) {
        for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
            for (std::size_t col = 0; col < matrix.cols.size(); ++col) {
                sink.print("{}\r\n", fields(matrix.name, matrix.rows[row], matrix.cols[col],
                                            matrix.cells[row][col].value, model::name_of(matrix.unit)));
            }
        }
    }
}

void write_csv(const HistoryReport& report, TextSink& sink)
{
    sink.add(
        "scenario,scenario_fingerprint,machine_fingerprint,run,run_id,started,version,case,metric,unit,better,n,median,"
        "ci_lo,ci_hi,change\r\n");
    for (const measure::History& history : report.histories.histories) {
        for (const measure::Trend& trend : history.trends) {
            write_trend(history, trend, sink);
        }
    }
}

void write_csv(const FleetReport& report, TextSink& sink)
{
    const model::Fleet& fleet = *report.fleet;
    std::unordered_map<std::size_t, const measure::Outlier*> outliers;  // by metric and host
    for (const measure::Outlier& outlier : report.judgement.outliers) {
        outliers.emplace(outlier.metric * fleet.hosts.size() + outlier.host, &outlier);
    }
    sink.add("host,scenario,case,metric,unit,better,n,median,mad,z,q,verdict\r\n");
    for (std::size_t i = 0; i < fleet.metrics.size(); ++i) {
        const model::FleetMetric& metric = fleet.metrics[i];
        const std::string about = fields(metric.scenario, metric.case_id, metric.name, model::name_of(metric.unit),
                                         model::name_of(metric.better));
        for (std::size_t host = 0; host < fleet.hosts.size(); ++host) {
            if (metric.n[host] == 0) {
                continue;
            }
            const auto found = outliers.find(i * fleet.hosts.size() + host);
            const measure::Outlier* outlier = found == outliers.end() ? nullptr : found->second;
            sink.print("{},{},{},{}\r\n", csv(fleet.hosts[host].name), about,
                       fields(metric.n[host], metric.median[host], metric.mad[host]),
                       outlier == nullptr
                           ? ",,"
                           : fields(outlier->z, outlier->q, std::string_view{outlier->is_worse ? "worse" : "better"}));
        }
    }
}

}  // namespace memsweep::reporters
