#include "reporters/document/pytorch_fit.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

using trace::PyTorchOutcome;
using trace::PyTorchRow;

Cell bytes_cell(std::uint64_t bytes)
{
    return {.text = base::format_size(bytes), .exact = base::exact_size(bytes)};
}

Cell event_cell(std::uint64_t event)
{
    return {.text = base::format_count(static_cast<double>(event))};
}

// "expandable, divisions 8": several in full do not fit into a column.
std::string settings_name(const trace::PyTorchSettings& settings)
{
    const trace::PyTorchSettings usual;
    std::vector<std::string> parts;
    if (settings.expandable) {
        parts.emplace_back("expandable");
    }
    if (settings.rounds()) {
        const bool is_one = std::ranges::all_of(settings.divisions,
                                                [&](std::uint64_t each) { return each == settings.divisions.front(); });
        parts.push_back(is_one ? fmt::format("divisions {}", settings.divisions.front()) : "divisions by size");
    }
    if (settings.max_split != usual.max_split) {
        parts.push_back(fmt::format("max_split {}", settings.max_split / trace::mib));
    }
    if (settings.max_non_split_rounding != usual.max_non_split_rounding) {
        parts.push_back(fmt::format("non_split_rounding {}", settings.max_non_split_rounding / trace::mib));
    }
    if (settings.gc_threshold > 0) {
        parts.push_back(fmt::format("gc {}", settings.gc_threshold));
    }
    return parts.empty() ? "default" : listed(parts);
}

// "2.10 GiB (38 %) less", "40.0 MiB (1 %) more"
std::string difference_text(const PyTorchOutcome& now, const PyTorchOutcome& then)
{
    if (then.reserved_peak == now.reserved_peak) {
        return "the same";
    }
    const bool is_less = then.reserved_peak < now.reserved_peak;
    const std::uint64_t difference =
        is_less ? now.reserved_peak - then.reserved_peak : then.reserved_peak - now.reserved_peak;
    const double share = static_cast<double>(difference) / static_cast<double>(std::max(now.reserved_peak, 1UL));
    return fmt::format("{} ({:.0f} %) {}", base::format_size(difference), share * 100, is_less ? "less" : "more");
}

std::string refused_text(const PyTorchOutcome& outcome)
{
    const trace::PyTorchFailure& failure = *outcome.failure;
    return fmt::format(
        "the request for {} of event {} fails while {} are live and {} more are cached and cannot be given back",
        base::format_size(failure.size), base::format_count(static_cast<double>(failure.event)),
        base::format_size(failure.live),
        base::format_size(failure.reserved - std::min(failure.reserved, failure.live)));
}

std::string retries_text(const PyTorchOutcome& outcome)
{
    return outcome.retries == 0
               ? std::string{}
               : fmt::format(", giving back all that is cached {}",
                             outcome.retries == 1 ? std::string{"once"} : fmt::format("{} times", outcome.retries));
}

std::string reserve_words(const PyTorchFitReport& report)
{
    return report.is_least ? "reserves, as far as the log tells," : "reserves";
}

std::string unbounded_text(const PyTorchFitReport& report)
{
    const PyTorchOutcome& now = report.fit.rows.front().outcome;
    const std::string text = fmt::format("This run {} {} under PyTorch's default settings", reserve_words(report),
                                         base::format_size(now.reserved_peak));
    if (report.fit.best == 0) {
        return text + ". Leave them as they are: none that was tried saves a segment (20 MiB) or 1 %.";
    }
    const PyTorchRow& best = report.fit.rows[report.fit.best];
    return text + fmt::format(" and {} with {}: {}.", base::format_size(best.outcome.reserved_peak),
                              trace::text_of(best.settings), difference_text(now, best.outcome));
}

std::string bounded_text(const PyTorchFitReport& report)
{
    const PyTorchOutcome& now = report.fit.rows.front().outcome;
    const PyTorchRow& best = report.fit.rows[report.fit.best];
    const std::string known = report.is_least ? ", as far as it is known" : "";
    if (now.failure) {
        const std::string text = fmt::format("At {} this run does not fit under PyTorch's default settings: {}.",
                                             report.capacity_text, refused_text(now));
        if (report.fit.best == 0) {
            return text + fmt::format(" It fits under none of {} settings.", report.fit.rows.size());
        }
        return text + (best.outcome.failure
                           ? fmt::format(" It fits under none of {} settings; {} comes furthest, to event {}.",
                                         report.fit.rows.size(), trace::text_of(best.settings),
                                         base::format_count(static_cast<double>(best.outcome.failure->event)))
                           : fmt::format(" It fits with {}{}{}.", trace::text_of(best.settings),
                                         retries_text(best.outcome), known));
    }
    const std::string text = fmt::format("This run fits into {} under PyTorch's default settings{}{}",
                                         report.capacity_text, retries_text(now), known);
    if (report.fit.best == 0) {
        return text + ". Leave them as they are: none that was tried does better.";
    }
    return text + fmt::format("; with {} it reserves {}{}.", trace::text_of(best.settings),
                              difference_text(now, best.outcome), retries_text(best.outcome));
}

Opening pytorch_opening(const PyTorchFitReport& report)
{
    const PyTorchOutcome& now = report.fit.rows.front().outcome;
    Opening opening{.headline = {report.capacity ? bounded_text(report) : unbounded_text(report), Tone::plain}};
    if (now.reserved_peak == 0 && !now.failure) {
        opening.headline.text = "This trace asks for no memory of the device: any settings suffice.";
    }
    if (report.capacity) {
        const bool is_helped = now.failure && !report.fit.rows[report.fit.best].outcome.failure;
        opening.headline.tone = now.failure && !is_helped                            ? Tone::bad
                                : now.failure || now.retries != 0 || report.is_least ? Tone::caution
                                                                                     : Tone::good;
    }
    for (const std::string& caveat : report.caveats) {
        opening.findings.push_back({measure::Importance::warning, caveat});
    }
    return opening;
}

std::vector<Cell> settings_row(const PyTorchRow& row, const PyTorchFitReport& report)
{
    const PyTorchOutcome& now = report.fit.rows.front().outcome;
    const bool is_default = &row == &report.fit.rows.front();
    std::vector<Cell> cells{
        {.text = settings_name(row.settings)},
        bytes_cell(row.outcome.reserved_peak),
        bytes_cell(row.outcome.allocated_peak),
        {.text = is_default || row.outcome.failure || now.failure ? std::string{} : difference_text(now, row.outcome)}};
    if (report.capacity) {
        cells.push_back({.text = std::to_string(row.outcome.retries)});
        if (row.outcome.failure) {
            const trace::PyTorchFailure& failure = *row.outcome.failure;
            for (const Cell& cell : {event_cell(failure.event), bytes_cell(failure.size), bytes_cell(failure.live),
                                     bytes_cell(failure.reserved - std::min(failure.reserved, failure.live))}) {
                cells.push_back(cell);
            }
        }
        cells.resize(9);
    }
    return cells;
}

Table settings_table(const PyTorchFitReport& report)
{
    std::string note = "expandable: expandable_segments:True; divisions: roundup_power2_divisions; max_split: "
                       "max_split_size_mb";
    if (report.capacity) {
        note +=
            fmt::format("; gc: garbage_collection_threshold. The figures are those until the first request that does "
                        "not fit into {}. Retries: how often the device stood still because all that was cached had "
                        "to be given back",
                        report.capacity_text);
    }
    Table table{.title = "Settings", .note = std::move(note), .columns = {Column::word_key("settings")}};
    table.add_numbers({"peak reserved", "peak allocated", "than default"});
    if (report.capacity) {
        table.add_numbers({"retries", "fails first: event", "its size", "live", "cached"});
    }
    for (const PyTorchRow& row : report.fit.rows) {
        table.rows.push_back(settings_row(row, report));
    }
    return table;
}

constexpr std::string_view reserved_chart_text = R"json({
"width": 640, "height": 260,
"usermeta": {"room": 90},
"data": {"values": []},
"mark": {"type": "line", "interpolate": "step-after"},
"encoding": {
  "x": {"field": "event", "type": "quantitative", "title": "event", "scale": {"nice": false}},
  "y": {"field": "v", "type": "quantitative"},
  "color": {"field": "line", "type": "nominal", "title": null},
  "tooltip": [{"field": "line"}, {"field": "event", "format": ",d"}, {"field": "text", "title": "bytes"}]}
})json";

struct ReservedLine {
    std::string name;
    const PyTorchOutcome* outcome;
    std::uint64_t trace::PyTorchPoint::*value;
};

Chart reserved_chart(const PyTorchFitReport& report)
{
    const PyTorchRow& now = report.fit.rows.front();
    std::vector<ReservedLine> lines{{"reserved, default", &now.outcome, &trace::PyTorchPoint::reserved},
                                    {"allocated, default", &now.outcome, &trace::PyTorchPoint::allocated}};
    std::uint64_t largest = std::max<std::uint64_t>(now.outcome.reserved_peak, 1);
    std::string spoken = fmt::format("Default: at most {} reserved.", base::format_size(now.outcome.reserved_peak));
    if (report.fit.best != 0) {
        const PyTorchRow& best = report.fit.rows[report.fit.best];
        lines.push_back({fmt::format("reserved, {}", trace::text_of(best.settings)), &best.outcome,
                         &trace::PyTorchPoint::reserved});
        largest = std::max(largest, best.outcome.reserved_peak);
        spoken += fmt::format(" {}: at most {}.", trace::text_of(best.settings),
                              base::format_size(best.outcome.reserved_peak));
    }
    const ChartUnit unit = chart_unit(model::Unit::bytes, static_cast<double>(largest));
    Json values = Json::array();
    Table table{.title = "Reserved over time",
                .columns = {Column::key("line"), Column::number("event"), Column::number("bytes")}};
    for (const ReservedLine& line : lines) {
        for (const trace::PyTorchPoint& point : line.outcome->curve) {
            const std::uint64_t bytes = point.*line.value;
            values.push_back({{"line", line.name},
                              {"event", point.event},
                              {"v", chart_number(static_cast<double>(bytes) / unit.factor)},
                              {"text", base::format_size(bytes)}});
            table.rows.push_back({{.text = line.name}, event_cell(point.event), bytes_cell(bytes)});
        }
    }
    Json spec = json_of(reserved_chart_text);
    spec["data"]["values"] = std::move(values);
    spec["encoding"]["y"]["title"] = fmt::format("bytes ({})", unit.name);
    return {.title = "Reserved over time",
            .about = "What PyTorch has taken from the device, and what the program has of it. The distance between the "
                     "two is cached: rounding, fragmentation, and what waits to be asked for again.",
            .spoken = std::move(spoken),
            .spec = std::move(spec),
            .data = {std::move(table)},
            .long_data = true};
}

}  // namespace

std::string advice_of(const PyTorchFitReport& report)
{
    const PyTorchRow& best = report.fit.rows[report.fit.best];
    return report.fit.best == 0 || best.outcome.failure ? std::string{}
                                                        : "PYTORCH_CUDA_ALLOC_CONF=" + trace::text_of(best.settings);
}

Document document(const PyTorchFitReport& report)
{
    Document document{.kicker = "memsweep fit",
                      .title = inert_text(report.trace_name),
                      .description = "What PyTorch's caching allocator would reserve for a run, by its settings."};
    document.add(pytorch_opening(report));
    if (const std::string advice = advice_of(report); !advice.empty()) {
        document.add(Items{.items = {{.text = advice, .is_command = true}}});
    }
    const std::string sizes =
        report.sizes.empty() ? std::string{} : fmt::format(" The trace's sizes are {}.", inert_text(report.sizes));
    document.add(Paragraph{fmt::format("Live at the peak on {}: {} ({} bytes).{}", report.memory,
                                       base::format_size(report.live_peak),
                                       base::format_count(static_cast<double>(report.live_peak)), sizes)});
    document.add(TableBlock{.table = settings_table(report), .id = "settings", .is_sortable = true});
    document.add(Charts{.title = "Reserved", .sections = [&report] {
                            return std::vector{ChartSection{.title = {}, .charts = {reserved_chart(report)}}};
                        }});
    return document;
}

}  // namespace memsweep::reporters
