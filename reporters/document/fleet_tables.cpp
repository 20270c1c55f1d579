#include "reporters/document/fleet_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/wording/shift_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::BadHost;
using measure::Outlier;
using model::Fleet;
using model::FleetHost;
using model::FleetMetric;

std::string ratio_text(double value, double median)
{
    return median > 0 && value > 0 ? factor_text(value / median) + "x" : "";
}

std::string z_text(const Outlier& outlier)
{
    return outlier.rule == measure::PeerRule::counter ? "" : fmt::format("{:+.1f}", outlier.z);
}

Cell host_cell(const FleetHost& host)
{
    return {.text = host.name, .exact = listed(host.sources)};
}

std::vector<Cell> bad_row(const FleetReport& report, const BadHost& bad)
{
    const Fleet& fleet = *report.fleet;
    const FleetHost& host = fleet.hosts[bad.host];
    std::vector<Cell> row{host_cell(host)};
    const std::size_t count = bad.outliers.size() + host.problems.size() + (host.interrupted ? 1 : 0);
    row.push_back(count_cell(count, Tone::bad));
    if (bad.outliers.empty()) {
        const std::string reason = host.problems.empty() ? "its run did not finish" : host.problems.front().reason;
        const std::string id = host.problems.empty() ? "" : host.problems.front().case_id;
        row.insert(row.end(), {{.text = short_id(id, fleet.scenario)}, {.text = reason}, {}, {}, {}, {}});
        return row;
    }
    const Outlier& outlier = report.judgement.outliers[bad.outliers.front()];
    const FleetMetric& metric = fleet.metrics[outlier.metric];
    row.insert(row.end(), {{.text = short_id(metric.case_id, fleet.scenario)},
                           {.text = metric.name},
                           value_cell(outlier.value, metric.unit),
                           value_cell(outlier.median, metric.unit),
                           {.text = ratio_text(outlier.value, outlier.median)},
                           {.text = z_text(outlier)}});
    return row;
}

bool is_shown_in_brief(const FleetReport& report, const measure::Spread& spread)
{
    return model::shown_of(report.fleet->metrics[spread.metric].name).in_brief || count_outliers(report, spread) > 0;
}

}  // namespace

std::vector<HostPlace> places_in(const FleetReport& report, const measure::Spread& spread)
{
    const FleetMetric& metric = report.fleet->metrics[spread.metric];
    std::vector<HostPlace> hosts;
    for (std::size_t host = 0; host < metric.median.size(); ++host) {
        if (report.judgement.kind[host] == spread.kind && std::isfinite(metric.median[host])) {
            hosts.push_back({host, metric.median[host]});
        }
    }
    return hosts;
}

bool is_bad(const FleetReport& report, std::size_t host)
{
    return std::ranges::find(report.judgement.bad, host, &BadHost::host) != report.judgement.bad.end();
}

std::size_t count_outliers(const FleetReport& report, const measure::Spread& spread)
{
    return static_cast<std::size_t>(std::ranges::count_if(report.judgement.outliers, [&](const Outlier& one) {
        return one.metric == spread.metric && report.judgement.kind[one.host] == spread.kind && one.is_worse;
    }));
}

const Outlier* outlier_at(const FleetReport& report, std::size_t metric, std::size_t host)
{
    const auto found = std::ranges::find_if(report.judgement.outliers, [&](const Outlier& one) {
        return one.metric == metric && one.host == host && one.is_worse;
    });
    return found == report.judgement.outliers.end() ? nullptr : &*found;
}

Table bad_hosts_table(const FleetReport& report)
{
    Table table{.title = "Bad hosts", .note = "the weightiest evidence against each"};
    table.columns = {Column::word_key("host"), Column::number("findings"), Column::text("case"),
                     Column::word("metric")};
    table.add_numbers({"value", "usual", "ratio", "z"});
    for (const std::string& name : report.fleet->missing) {
        table.rows.push_back({{.text = name}, {}, {}, {.text = "missing", .tone = Tone::bad}, {}, {}, {}, {}});
    }
    for (const BadHost& bad : report.judgement.bad) {
        table.rows.push_back(bad_row(report, bad));
    }
    return table;
}

Table outliers_table(const FleetReport& report)
{
    const Fleet& fleet = *report.fleet;
    Table table{.title = "Outliers",
                .note =
                    "z: robust standard deviations from the median of the hosts; q: adjusted over all that was judged"};
    table.columns = {Column::word_key("host"), Column::text("case"), Column::word("metric")};
    table.add_numbers({"value", "usual", "ratio", "z", "q"});
    for (const Outlier& outlier : report.judgement.outliers) {
        const FleetMetric& metric = fleet.metrics[outlier.metric];
        Cell value = value_cell(outlier.value, metric.unit);
        value.tone = outlier.is_worse ? Tone::bad : Tone::caution;
        table.rows.push_back({host_cell(fleet.hosts[outlier.host]),
                              {.text = short_id(metric.case_id, fleet.scenario)},
                              {.text = metric.name},
                              std::move(value),
                              value_cell(outlier.median, metric.unit),
                              {.text = ratio_text(outlier.value, outlier.median)},
                              {.text = z_text(outlier)},
                              {.text = outlier.q ? fmt::format("{:.1g}", *outlier.q) : ""}});
    }
    return table;
}

Table spreads_table(const FleetReport& report, bool all)
{
    const Fleet& fleet = *report.fleet;
    const bool kinds = report.judgement.kinds.size() > 1;
    Table table{.title = all ? "Every quantity over the hosts" : "Over the hosts",
                .note = "medians of each host; half of the hosts lie between the quartiles"};
    table.columns = {Column::key("case"),      Column::word_key("metric"),  Column::number("hosts"),
                     Column::number("median"), Column::number("quartiles"), Column::number("least"),
                     Column::number("most"),   Column::number("outliers")};
    for (const measure::Spread& spread : report.judgement.spreads) {
        if (!all && !is_shown_in_brief(report, spread)) {
            continue;
        }
        const FleetMetric& metric = fleet.metrics[spread.metric];
        const std::vector<HostPlace> places = places_in(report, spread);
        const HostPlace least = *std::ranges::min_element(places, {}, &HostPlace::value);
        const HostPlace most = *std::ranges::max_element(places, {}, &HostPlace::value);
        const auto of_host = [&](const HostPlace& place) {
            Cell cell = value_cell(place.value, metric.unit);
            cell.text += fmt::format(" ({})", fleet.hosts[place.host].name);
            return cell;
        };
        const std::size_t outliers = count_outliers(report, spread);
        const std::string name = short_id(metric.case_id, fleet.scenario);
        table.rows.push_back(
            {{.text = kinds ? fmt::format("{} on {}", name, report.judgement.kinds[spread.kind]) : name},
             {.text = metric.name},
             count_cell(spread.judgement.hosts),
             value_cell(spread.judgement.median, metric.unit),
             {.text = fmt::format("{} .. {}", value_text(spread.judgement.low, metric.unit),
                                  value_text(spread.judgement.high, metric.unit))},
             of_host(least),
             of_host(most),
             count_cell(outliers, outliers > 0 ? Tone::bad : Tone::plain)});
    }
    return table;
}

Table hosts_table(const FleetReport& report)
{
    const Fleet& fleet = *report.fleet;
    Table table{.title = "Hosts", .note = "every host's own result has all of its figures"};
    table.columns = {Column::word_key("host"), Column::text("verdict")};
    table.add_numbers({"ok", "not ok", "skipped", "cores", "memory"});
    for (const char* title : {"kernel", "tags", "result"}) {
        table.columns.push_back(Column::text(title));
    }
    for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
        const FleetHost& host = fleet.hosts[i];
        const bool bad = is_bad(report, i);
        std::vector<std::string> tags;
        for (const auto& [name, value] : host.tags) {
            tags.push_back(fmt::format("{}={}", name, value));
        }
        const std::uint64_t failed = host.counts.failed + host.counts.errors + host.counts.timeouts;
        table.rows.push_back({{.text = host.name},
                              {.text = bad ? "bad" : "like the others", .tone = bad ? Tone::bad : Tone::plain},
                              count_cell(host.counts.ok),
                              count_cell(failed, failed > 0 ? Tone::bad : Tone::plain),
                              count_cell(host.counts.skipped),
                              count_cell(host.machine.cores),
                              {.text = base::format_size(static_cast<double>(host.machine.memory_bytes))},
                              {.text = host.machine.kernel},
                              {.text = listed(tags)},
                              {.text = listed(host.sources)}});
    }
    return table;
}

Table figures_of_host(const FleetReport& report, std::size_t host)
{
    const Fleet& fleet = *report.fleet;
    Table table{.title = fmt::format("Figures of {}", fleet.hosts[host].name), .note = "beside the median of its kind"};
    table.columns = {Column::key("case"), Column::word_key("metric")};
    table.add_numbers({"values", "median", "usual", "ratio"});
    for (const measure::Spread& spread : report.judgement.spreads) {
        const FleetMetric& metric = fleet.metrics[spread.metric];
        if (spread.kind != report.judgement.kind[host] || metric.n[host] == 0) {
            continue;
        }
        const double value = metric.median[host];
        const double usual = spread.judgement.median;
        Cell cell = value_cell(value, metric.unit);
        cell.tone = outlier_at(report, spread.metric, host) != nullptr ? Tone::bad : Tone::plain;
        table.rows.push_back({{.text = metric.case_id},
                              {.text = metric.name},
                              count_cell(metric.n[host]),
                              std::move(cell),
                              value_cell(usual, metric.unit),
                              {.text = ratio_text(value, usual)}});
    }
    return table;
}

std::vector<Table> matrix_tables(const Fleet& fleet)
{
    std::vector<Table> tables;
    for (const model::FleetMatrix& matrix : fleet.matrices) {
        Table& table = tables.emplace_back();
        table.title = matrix.name;
        table.note = "from the host of the row to the host of the column";
        table.columns.push_back(Column::word_key("from"));
        double most = 0;
        for (const std::vector<double>& row : matrix.values) {
            for (const double value : row) {
                most = std::isfinite(value) ? std::max(most, value) : most;
            }
        }
        for (const std::string& host : matrix.hosts) {
            table.columns.push_back(Column::number(host));
        }
        for (std::size_t from = 0; from < matrix.hosts.size(); ++from) {
            std::vector<Cell>& row = table.rows.emplace_back();
            row.push_back({.text = matrix.hosts[from]});
            for (const double value : matrix.values[from]) {
                Cell cell = std::isfinite(value) ? value_cell(value, matrix.unit) : Cell{};
                if (std::isfinite(value) && most > 0) {
                    cell.share = value / most;
                }
                row.push_back(std::move(cell));
            }
        }
    }
    return tables;
}

}  // namespace memsweep::reporters
