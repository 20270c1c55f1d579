#include "reporters/document/fleet_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::BadHost;
using measure::Outlier;
using model::Fleet;
using model::FleetHost;
using model::FleetMetric;

std::string short_case(const Fleet& fleet, const std::string& id)
{
    const std::string prefix = fleet.scenario + "/";
    return id.starts_with(prefix) ? id.substr(prefix.size()) : id;
}

std::string ratio_text(double value, double median)
{
    return median > 0 && value > 0 ? measure::format_factor(value / median) + "x" : "";
}

std::string z_text(const Outlier& outlier)
{
    return outlier.rule == measure::PeerRule::counter ? "" : fmt::format("{:+.1f}", outlier.z);
}

Cell host_cell(const FleetHost& host)
{
    return {.text = host.name, .exact = fmt::format("{}", fmt::join(host.sources, ", "))};
}

std::vector<Cell> bad_row(const FleetReport& report, const BadHost& bad)
{
    const Fleet& fleet = *report.fleet;
    const FleetHost& host = fleet.hosts[bad.host];
    std::vector<Cell> row{host_cell(host)};
    const std::size_t count = bad.outliers.size() + host.problems.size() + (host.interrupted ? 1 : 0);
    row.push_back({.text = fmt::format("{}", count), .tone = Tone::bad});
    if (bad.outliers.empty()) {
        const std::string reason = host.problems.empty() ? "its run did not finish" : host.problems.front().reason;
        const std::string id = host.problems.empty() ? "" : host.problems.front().case_id;
        row.insert(row.end(), {{.text = short_case(fleet, id)}, {.text = reason}, {}, {}, {}, {}});
        return row;
    }
    const Outlier& outlier = report.judgement.outliers[bad.outliers.front()];
    const FleetMetric& metric = fleet.metrics[outlier.metric];
    row.insert(row.end(), {{.text = short_case(fleet, metric.case_id)},
                           {.text = metric.name},
                           value_cell(outlier.value, metric.unit),
                           value_cell(outlier.median, metric.unit),
                           {.text = ratio_text(outlier.value, outlier.median)},
                           {.text = z_text(outlier)}});
    return row;
}

struct Ends {
    std::size_t least{}, most{};
};

Ends ends_of(const FleetReport& report, const measure::Spread& spread)
{
    const FleetMetric& metric = report.fleet->metrics[spread.metric];
    Ends ends{metric.median.size(), metric.median.size()};
    for (std::size_t host = 0; host < metric.median.size(); ++host) {
        if (!std::isfinite(metric.median[host]) || report.judgement.kind[host] != spread.kind) {
            continue;
        }
        if (ends.least == metric.median.size() || metric.median[host] < metric.median[ends.least]) {
            ends.least = host;
        }
        if (ends.most == metric.median.size() || metric.median[host] > metric.median[ends.most]) {
            ends.most = host;
        }
    }
    return ends;
}

std::size_t count_outliers(const FleetReport& report, const measure::Spread& spread)
{
    return static_cast<std::size_t>(std::ranges::count_if(report.judgement.outliers, [&](const Outlier& one) {
        return one.metric == spread.metric && report.judgement.kind[one.host] == spread.kind && one.is_worse;
    }));
}

bool is_shown(const FleetReport& report, const measure::Spread& spread)
{
    constexpr std::array<std::string_view, 5> always{"wall_time", "time_per_op", "bandwidth", "latency",
                                                     "working_set_peak"};
    return std::ranges::find(always, report.fleet->metrics[spread.metric].name) != always.end() ||
           count_outliers(report, spread) > 0;
}

}  // namespace

Headline headline(const FleetReport& report)
{
    const Fleet& fleet = *report.fleet;
    constexpr std::size_t most_names = 4;
    const std::string hosts = fmt::format("{} of {}", plural(fleet.hosts.size(), "host"), fleet.scenario);
    std::vector<std::string> parts;
    if (const std::size_t missing = model::count_missing(fleet); missing > 0) {
        parts.push_back(fmt::format(
            "{} missing{}", missing,
            fleet.missing.empty() ? "" : fmt::format(" ({}{})", fleet.missing.front(), missing > 1 ? ", ..." : "")));
    }
    if (!report.judgement.bad.empty()) {
        std::vector<std::string> names;
        for (const BadHost& bad : report.judgement.bad) {
            if (names.size() < most_names) {
                names.push_back(fleet.hosts[bad.host].name);
            }
        }
        parts.push_back(fmt::format("{} bad: {}{}", report.judgement.bad.size(), fmt::join(names, ", "),
                                    report.judgement.bad.size() > most_names ? ", ..." : ""));
    }
    if (parts.empty()) {
        const bool any_judged = std::ranges::any_of(
            report.judgement.spreads, [](const measure::Spread& spread) { return spread.judgement.hosts >= 3; });
        return {
            fmt::format("{}: {}", hosts,
                        any_judged ? "none is unlike the others." : "too few of a kind to tell any from the others."),
            any_judged ? Tone::good : Tone::caution};
    }
    return {fmt::format("{}: {}.", hosts, fmt::join(parts, "; ")), Tone::bad};
}

std::string span_text(const Fleet& fleet)
{
    const std::string came = fleet.expected ? fmt::format("{} of {} hosts", fleet.hosts.size(), *fleet.expected)
                                            : plural(fleet.hosts.size(), "host");
    return fmt::format("{}, from {} to {}", came, fleet.started, fleet.ended.empty() ? "?" : fleet.ended);
}

Table bad_hosts_table(const FleetReport& report)
{
    Table table{.title = "Bad hosts", .note = "the weightiest evidence against each"};
    table.columns = {{.title = "host", .is_key = true, .is_word = true},
                     {.title = "findings", .is_number = true},
                     {.title = "case"},
                     {.title = "metric", .is_word = true},
                     {.title = "value", .is_number = true},
                     {.title = "usual", .is_number = true},
                     {.title = "ratio", .is_number = true},
                     {.title = "z", .is_number = true}};
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
    table.columns = {{.title = "host", .is_key = true, .is_word = true},
                     {.title = "case"},
                     {.title = "metric", .is_word = true},
                     {.title = "value", .is_number = true},
                     {.title = "usual", .is_number = true},
                     {.title = "ratio", .is_number = true},
                     {.title = "z", .is_number = true},
                     {.title = "q", .is_number = true}};
    for (const Outlier& outlier : report.judgement.outliers) {
        const FleetMetric& metric = fleet.metrics[outlier.metric];
        Cell value = value_cell(outlier.value, metric.unit);
        value.tone = outlier.is_worse ? Tone::bad : Tone::caution;
        table.rows.push_back({host_cell(fleet.hosts[outlier.host]),
                              {.text = short_case(fleet, metric.case_id)},
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
    table.columns = {{.title = "case", .is_key = true},
                     {.title = "metric", .is_key = true, .is_word = true},
                     {.title = "hosts", .is_number = true},
                     {.title = "median", .is_number = true},
                     {.title = "quartiles", .is_number = true},
                     {.title = "least", .is_number = true},
                     {.title = "of"},
                     {.title = "most", .is_number = true},
                     {.title = "of "},
                     {.title = "outliers", .is_number = true}};
    for (const measure::Spread& spread : report.judgement.spreads) {
        if (!all && !is_shown(report, spread)) {
            continue;
        }
        const FleetMetric& metric = fleet.metrics[spread.metric];
        const Ends ends = ends_of(report, spread);
        const std::size_t outliers = count_outliers(report, spread);
        const std::string name = short_case(fleet, metric.case_id);
        table.rows.push_back(
            {{.text = kinds ? fmt::format("{} on {}", name, report.judgement.kinds[spread.kind]) : name},
             {.text = metric.name},
             {.text = fmt::format("{}", spread.judgement.hosts)},
             value_cell(spread.judgement.median, metric.unit),
             {.text = fmt::format("{} .. {}", value_text(spread.judgement.low, metric.unit),
                                  value_text(spread.judgement.high, metric.unit))},
             value_cell(metric.median[ends.least], metric.unit),
             {.text = fleet.hosts[ends.least].name},
             value_cell(metric.median[ends.most], metric.unit),
             {.text = fleet.hosts[ends.most].name},
             {.text = fmt::format("{}", outliers), .tone = outliers > 0 ? Tone::bad : Tone::plain}});
    }
    return table;
}

Table hosts_table(const FleetReport& report)
{
    const Fleet& fleet = *report.fleet;
    Table table{.title = "Hosts", .note = "every host's own result has all of its figures"};
    table.columns = {{.title = "host", .is_key = true, .is_word = true},
                     {.title = "verdict"},
                     {.title = "ok", .is_number = true},
                     {.title = "not ok", .is_number = true},
                     {.title = "skipped", .is_number = true},
                     {.title = "cores", .is_number = true},
                     {.title = "memory", .is_number = true},
                     {.title = "kernel"},
                     {.title = "tags"},
                     {.title = "result"}};
    for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
        const FleetHost& host = fleet.hosts[i];
        const bool bad = std::ranges::find(report.judgement.bad, i, &BadHost::host) != report.judgement.bad.end();
        std::vector<std::string> tags;
        for (const auto& [name, value] : host.tags) {
            tags.push_back(fmt::format("{}={}", name, value));
        }
        const std::uint64_t failed = host.counts.failed + host.counts.errors + host.counts.timeouts;
        table.rows.push_back({{.text = host.name},
                              {.text = bad ? "bad" : "like the others", .tone = bad ? Tone::bad : Tone::plain},
                              {.text = fmt::format("{}", host.counts.ok)},
                              {.text = fmt::format("{}", failed), .tone = failed > 0 ? Tone::bad : Tone::plain},
                              {.text = fmt::format("{}", host.counts.skipped)},
                              {.text = fmt::format("{}", host.machine.cores)},
                              {.text = base::format_size(static_cast<double>(host.machine.memory_bytes))},
                              {.text = host.machine.kernel},
                              {.text = fmt::format("{}", fmt::join(tags, ", "))},
                              {.text = fmt::format("{}", fmt::join(host.sources, ", "))}});
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
        table.columns.push_back({.title = "from", .is_key = true, .is_word = true});
        double most = 0;
        for (const std::vector<double>& row : matrix.values) {
            for (const double value : row) {
                most = std::isfinite(value) ? std::max(most, value) : most;
            }
        }
        for (const std::string& host : matrix.hosts) {
            table.columns.push_back({.title = host, .is_number = true});
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
