#include "reporters/ci/csv_writer.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/measure/place_matrix.hpp"
#include "reporters/json/json_parts.hpp"
#include "reporters/text/csv_text.hpp"

namespace memsweep::reporters {
namespace {

// The columns that every row of a case begins with.
std::string case_fields(const model::RunInfo& run, const std::string& host, const model::CaseReport& report)
{
    return fmt::format("{},{},{},{},{},{}", csv_field(run.id), csv_field(run.started), csv_field(host),
                       csv_field(report.scenario), csv_field(report.id),
                       csv_field(compact(json_params(report.params))));
}

std::string metric_fields(const model::Metric& metric)
{
    return fmt::format("{},{},{}", csv_field(metric.name), csv_field(model::name_of(metric.unit)),
                       csv_field(model::name_of(metric.better)));
}

// What is the same in many rows is written once and copied.
void write_values(TextSink& sink, const std::string& case_part, const model::CaseReport& report)
{
    const std::string status = csv_field(model::name_of(report.status));
    bool has_rows = false;
    for (const model::Metric& metric : report.metrics) {
        const std::string metric_part = fmt::format("{},{},", case_part, metric_fields(metric));
        for (std::size_t repetition = 0; repetition < metric.values.size(); ++repetition) {
            sink.print("{}{},{},{}\r\n", metric_part, repetition, csv_number(metric.values[repetition]), status);
            has_rows = true;
        }
    }
    if (!has_rows) {
        sink.print("{},,,,,,{}\r\n", case_part, status);
    }
}

std::string summary_fields(const model::Summary& summary)
{
    std::optional<double> low;
    std::optional<double> high;
    if (summary.ci95) {
        low = (*summary.ci95)[0];
        high = (*summary.ci95)[1];
    }
    return fmt::format("{},{},{},{},{},{},{},{}", summary.n, csv_number(summary.min), csv_number(summary.median),
                       csv_number(summary.mad), csv_number(low), csv_number(high), csv_number(summary.mdape),
                       summary.outliers);
}

void write_summaries(TextSink& sink, const std::string& case_part, const model::CaseReport& report)
{
    const std::string status = csv_field(model::name_of(report.status));
    for (const model::Metric& metric : report.metrics) {
        const std::string summary = metric.summary ? summary_fields(*metric.summary) : "0,,,,,,,0";
        sink.print("{},{},{},{}\r\n", case_part, metric_fields(metric), summary, status);
    }
    if (report.metrics.empty()) {
        sink.print("{},,,,,,,,,,,,{}\r\n", case_part, status);
    }
}

void write_samples(TextSink& sink, const std::string& run_part, const model::CaseReport& report)
{
    const std::string case_part = csv_field(report.id);
    for (const model::Series& series : report.series) {
        const std::string before =
            fmt::format("{},{},{},{},", run_part, case_part, series.repetition, csv_field(series.name));
        for (std::size_t i = 0; i < std::min(series.t.size(), series.v.size()); ++i) {
            sink.print("{}{},{}\r\n", before, csv_number(series.t[i]), csv_number(series.v[i]));
        }
    }
}

}  // namespace

void write_csv(const model::RunReport& report, TextSink& sink)
{
    sink.add("run_id,started,host,scenario,case,params,metric,unit,better,repetition,value,status\r\n");
    for (const model::CaseReport& one : report.cases) {
        write_values(sink, case_fields(report.run, report.machine.host, one), one);
    }
}

void write_csv_summary(const model::RunReport& report, TextSink& sink)
{
    sink.add("run_id,started,host,scenario,case,params,metric,unit,better,n,min,median,mad,ci_lo,ci_hi,mdape,"
             "outliers,status\r\n");
    for (const model::CaseReport& one : report.cases) {
        write_summaries(sink, case_fields(report.run, report.machine.host, one), one);
    }
}

void write_csv_series(const model::RunReport& report, TextSink& sink)
{
    sink.add("run_id,case,repetition,series,t,value\r\n");
    const std::string run_part = csv_field(report.run.id);
    for (const model::CaseReport& one : report.cases) {
        write_samples(sink, run_part, one);
    }
}

void write_csv_matrix(const model::RunReport& report, TextSink& sink)
{
    sink.add("matrix,row,col,value,unit\r\n");
    for (const measure::PlaceMatrix& matrix : measure::place_matrices(report.cases)) {
        for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
            for (std::size_t col = 0; col < matrix.cols.size(); ++col) {
                sink.print("{},{},{},{},{}\r\n", csv_field(matrix.name), csv_field(matrix.rows[row]),
                           csv_field(matrix.cols[col]), csv_number(matrix.cells[row][col].value),
                           csv_field(model::name_of(matrix.unit)));
            }
        }
    }
}

}  // namespace memsweep::reporters
