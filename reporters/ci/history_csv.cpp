#include "reporters/ci/history_csv.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reporters/text/csv_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::History;
using measure::Trend;

std::string_view change_at(const Trend& trend, std::size_t run)
{
    const auto found = std::ranges::find(trend.changes, run, &measure::Change::run);
    return found == trend.changes.end() ? std::string_view{} : model::name_of(found->verdict);
}

void write_trend(const History& history, const Trend& trend, const std::string& before, TextSink& sink)
{
    const std::string about =
        fmt::format("{},{},{},{}", csv_field(trend.case_id), csv_field(trend.metric),
                    csv_field(model::name_of(trend.unit)), csv_field(model::name_of(trend.better)));
    for (std::size_t run = 0; run < trend.points.size(); ++run) {
        const auto& point = trend.points[run];
        if (!point) {
            continue;
        }
        const measure::HistoryRun& of = history.runs[run];
        const auto end = [&](std::size_t i) { return point->ci95 ? csv_number((*point->ci95).at(i)) : std::string{}; };
        sink.print("{},{},{},{},{},{},{},{},{},{},{}\r\n", before, run + 1, csv_field(of.id), csv_field(of.started),
                   csv_field(of.version), about, point->n, csv_number(point->median), end(0), end(1),
                   change_at(trend, run));
    }
}

}  // namespace

void write_csv(const HistoryReport& report, TextSink& sink)
{
    sink.add(
        "scenario,scenario_fingerprint,machine_fingerprint,run,run_id,started,version,case,metric,unit,better,n,median,"
        "ci_lo,ci_hi,change\r\n");
    for (const History& history : report.histories.histories) {
        const std::string before =
            fmt::format("{},{},{}", csv_field(history.scenario), csv_field(history.scenario_fingerprint),
                        csv_field(history.machine_fingerprint));
        for (const Trend& trend : history.trends) {
            write_trend(history, trend, before, sink);
        }
    }
}

}  // namespace memsweep::reporters
