#include "reporters/document/fleet_trend.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "reporters/wording/reason_words.hpp"
#include "reporters/wording/shift_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::FleetChange;
using measure::FleetTrend;
using measure::HostChange;
using measure::Importance;
using measure::Verdict;

Headline trend_headline(const FleetTrend& trend)
{
    const std::size_t worse = measure::count_changes(trend, Verdict::regressed);
    const std::size_t better = measure::count_changes(trend, Verdict::improved);
    const std::string hosts =
        fmt::format("{} against {}, {} in both", trend.candidate_name, trend.base_name, plural(trend.hosts, "host"));
    const bool bad = worse > 0 || !trend.newly_bad.empty();
    return {fmt::format("{}: {} of the fleet regressed, {} improved; {} newly bad, {} no longer.", hosts,
                        worse == 1 ? "1 quantity" : fmt::format("{} quantities", worse), better,
                        plural(trend.newly_bad.size(), "host"), trend.recovered.size()),
            bad ? Tone::bad : Tone::good};
}

std::vector<Statement> trend_findings(const FleetTrend& trend)
{
    constexpr std::ptrdiff_t max_named = 8;
    std::vector<Statement> found;
    const auto name = [&](Importance importance, std::string_view what, const std::vector<std::string>& hosts) {
        if (!hosts.empty()) {
            const std::vector<std::string> shown{hosts.begin(), hosts.begin() + std::min(std::ssize(hosts), max_named)};
            found.push_back({importance, fmt::format("{}: {}{}", what, listed(shown),
                                                     shown.size() < hosts.size()
                                                         ? fmt::format(" and {} more", hosts.size() - shown.size())
                                                         : "")});
        }
    };
    name(Importance::failure, "newly bad", trend.newly_bad);
    name(Importance::warning, "bad in both", trend.still_bad);
    name(Importance::note, "no longer bad", trend.recovered);
    name(Importance::warning, "not in the later run", trend.gone);
    name(Importance::note, "only in the later run", trend.added);
    std::ptrdiff_t told = 0;
    for (const HostChange& one : trend.outlying) {
        if (one.is_worse && told++ < max_named) {
            found.push_back(
                {Importance::failure,
                 fmt::format("{}: {} of {} went from {} to {} ({}x, the others {}x)", one.host, one.metric, one.case_id,
                             measure::format_value(one.unit, one.base), measure::format_value(one.unit, one.candidate),
                             measure::format_factor(one.candidate / one.base), measure::format_factor(one.usual))});
        }
    }
    return found;
}

bool is_change(const FleetChange& change)
{
    return change.verdict == Verdict::regressed || change.verdict == Verdict::improved;
}

Table fleet_changes_table(const FleetTrend& trend, bool only_changed)
{
    Table table{.title = "The fleet as a whole",
                .note = "medians of the hosts that both runs have; each host against itself"};
    table.columns = {Column::key("case"), Column::word_key("metric"), Column::text("verdict")};
    table.add_numbers({"hosts", "before", "after", "change", "95 % interval"});
    for (const FleetChange& change : trend.changes) {
        if (only_changed && !is_change(change)) {
            continue;
        }
        const auto effect = [&](double value) {
            return change.shift.is_ratio ? measure::format_factor(value) + "x" : value_text(value, change.unit);
        };
        table.rows.push_back(
            {{.text = change.case_id},
             {.text = change.metric},
             verdict_cell(change.verdict, reason_text(change.reason)),
             count_cell(change.hosts),
             value_cell(change.base, change.unit),
             value_cell(change.candidate, change.unit),
             {.text = change.shift.interval ? effect(change.shift.estimate)
                                            : brief_shift_text(change.unit, change.shift, change.base)},
             {.text = interval_text(change.shift.interval, "..", effect)}});
    }
    return table;
}

Table outlying_table(const FleetTrend& trend)
{
    Table table{.title = "Hosts that changed unlike the others", .note = "z among the changes of all hosts"};
    table.columns = {Column::word_key("host"), Column::text("case"), Column::word("metric")};
    table.add_numbers({"before", "after", "change", "others", "z"});
    for (const HostChange& one : trend.outlying) {
        Cell after = value_cell(one.candidate, one.unit);
        after.tone = one.is_worse ? Tone::bad : Tone::good;
        table.rows.push_back({{.text = one.host},
                              {.text = one.case_id},
                              {.text = one.metric},
                              value_cell(one.base, one.unit),
                              std::move(after),
                              {.text = measure::format_factor(one.candidate / one.base) + "x"},
                              {.text = measure::format_factor(one.usual) + "x"},
                              {.text = fmt::format("{:+.1f}", one.z)}});
    }
    return table;
}

}  // namespace

Document document(const FleetTrendReport& report)
{
    Document document{.kicker = "memsweep fleet comparison"};
    for (const FleetTrend& trend : report.trends) {
        document.add(Opening{trend_headline(trend), trend_findings(trend)});
        document.add_table({.table = outlying_table(trend), .is_sortable = true});
        document.add_table({.table = fleet_changes_table(trend, true), .is_sortable = true},
                           report.only_changed ? Weight::answer : Weight::brief);
        if (!report.only_changed) {
            document.add_later(Weight::reference, [&] {
                return TableBlock{.table = fleet_changes_table(trend, false), .is_sortable = true};
            });
        }
    }
    if (!report.trends.empty()) {
        document.title = report.trends.front().base_name + " and " + report.trends.front().candidate_name;
    }
    return document;
}

}  // namespace memsweep::reporters
