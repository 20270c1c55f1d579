#include "reporters/ci/gha_writer.hpp"

#include <algorithm>
#include <cmath>

#include "reporters/ci/benchmark_names.hpp"
#include "reporters/text/json.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

bool has_median(const model::Metric& metric)
{
    return metric.summary && std::isfinite(metric.summary->median);
}

Json entry_json(const std::string& case_name, const model::Metric& metric)
{
    const model::Summary& summary = *metric.summary;
    Json json = {{"name", case_name + "/" + ascii_name(metric.name)},
                 {"unit", std::string{model::name_of(metric.unit)}},
                 {"value", summary.median}};
    if (summary.ci95) {
        json["range"] = "± " + number_text(((*summary.ci95)[1] - (*summary.ci95)[0]) / 2);
    }
    json["extra"] = fmt::format("n={}\nmad={}\nmin={}", summary.n, number_text(summary.mad), number_text(summary.min));
    return json;
}

void write_direction(const model::RunReport& report, TextSink& sink, model::Better better)
{
    sink.add("[");
    std::string_view before = "\n";
    for (const NamedCase& one : named_cases(report)) {
        for (const model::Metric& metric : one.report->metrics) {
            if (metric.better == better && has_median(metric)) {
                sink.print("{}{}", before, compact(entry_json(one.name, metric)));
                before = ",\n";
            }
        }
    }
    sink.add("\n]\n");
}

}  // namespace

void write_gha_smaller(const model::RunReport& report, TextSink& sink)
{
    write_direction(report, sink, model::Better::lower);
}

void write_gha_bigger(const model::RunReport& report, TextSink& sink)
{
    write_direction(report, sink, model::Better::higher);
}

bool gha_fits_one_file(const model::RunReport& report)
{
    return std::ranges::none_of(report.cases, [](const model::CaseReport& one) {
        return std::ranges::any_of(one.metrics,
                                   [](const model::Metric& metric) { return metric.better == model::Better::higher; });
    });
}

}  // namespace memsweep::reporters
