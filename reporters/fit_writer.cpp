#include "reporters/fit_writer.hpp"

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/json_text.hpp"
#include "reporters/table.hpp"
#include "reporters/terminal_ink.hpp"
#include "reporters/terminal_table.hpp"

namespace memsweep::reporters {
namespace {

Cell size_cell(std::uint64_t bytes)
{
    return {.text = base::format_size(static_cast<double>(bytes)), .exact = base::exact_size(bytes)};
}

Cell count_cell(std::uint64_t count)
{
    return {.text = base::format_count(static_cast<double>(count))};
}

std::vector<Cell> row_of(const trace::PolicyFit& fit)
{
    std::vector<Cell> row{{std::string{fit.policy}}, size_cell(fit.capacity), {fmt::format("{:.3f}", fit.ratio)}};
    if (fit.first_failure) {
        for (const Cell& cell :
             {count_cell(fit.first_failure->event), size_cell(fit.first_failure->size),
              size_cell(fit.first_failure->live_bytes), size_cell(fit.first_failure->largest_hole)}) {
            row.push_back(cell);
        }
    }
    row.resize(7);
    return row;
}

std::string failure_note(const FitReport& report)
{
    if (report.options.capacity) {
        return fmt::format("fails first: what does not fit in {}; nothing where all does",
                           base::exact_size(*report.options.capacity));
    }
    return "fails first: what does not fit when the capacity is one byte less";
}

Json json_failure(const std::optional<trace::FitFailure>& failure)
{
    if (!failure) {
        return nullptr;
    }
    return {{"event", failure->event},
            {"size", failure->size},
            {"live_bytes", failure->live_bytes},
            {"largest_hole", failure->largest_hole},
            {"run", failure->run}};
}

Json json_policy(const trace::PolicyFit& fit)
{
    return {{"policy", fit.policy},
            {"capacity", fit.capacity},
            {"ratio", json_number(fit.ratio)},
            {"largest_hole", fit.first_failure ? Json(fit.first_failure->largest_hole) : Json(nullptr)},
            {"first_failure", json_failure(fit.first_failure)},
            {"capacity_after_run", fit.needed_after_run}};
}

}  // namespace

Table capacity_table(const FitReport& report)
{
    Table table{.title = "Capacity",
                .note = failure_note(report),
                .columns = {{.title = "policy", .is_key = true},
                            {.title = "smallest capacity", .is_number = true},
                            {.title = "of live peak", .is_number = true},
                            {.title = "fails first: event", .is_number = true},
                            {.title = "its size", .is_number = true},
                            {.title = "live bytes", .is_number = true},
                            {.title = "largest hole", .is_number = true}},
                .rows = {}};
    for (const trace::PolicyFit& fit : report.policies) {
        table.rows.push_back(row_of(fit));
    }
    return table;
}

std::string to_terminal(const FitReport& report, const TerminalStyle& style)
{
    const std::string peak = fmt::format("Live at the peak: {} ({} bytes). Sizes rounded up to {}.",
                                         base::format_size(static_cast<double>(report.live_peak)),
                                         base::format_count(static_cast<double>(report.live_peak)),
                                         base::exact_size(report.options.alignment));
    return paragraph(peak, "", style) + "\n" + table_text(capacity_table(report), style);
}

std::string to_json(const FitReport& report)
{
    Json policies = Json::array();
    for (const trace::PolicyFit& fit : report.policies) {
        policies.push_back(json_policy(fit));
    }
    const Json document = {{"live_peak", report.live_peak},
                           {"capacity", report.options.capacity ? Json(*report.options.capacity) : Json(nullptr)},
                           {"alignment", report.options.alignment},
                           {"runs", report.options.runs},
                           {"policies", std::move(policies)}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
