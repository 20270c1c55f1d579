#include "reporters/document/document.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace memsweep::reporters {

Tone tone_of(measure::Importance importance)
{
    using enum measure::Importance;
    return importance == failure ? Tone::bad : importance == warning ? Tone::caution : Tone::plain;
}

Tone tone_of(measure::Verdict verdict)
{
    using measure::Verdict;
    switch (verdict) {
    case Verdict::regressed:
    case Verdict::newly_failing:
        return Tone::bad;
    case Verdict::improved:
    case Verdict::fixed:
        return Tone::good;
    case Verdict::insufficient:
    case Verdict::missing:
    case Verdict::not_comparable:
        return Tone::caution;
    case Verdict::informational:
        return Tone::muted;
    case Verdict::same:
    case Verdict::inconclusive:
    case Verdict::added:
        break;
    }
    return Tone::plain;
}

Cell verdict_cell(measure::Verdict verdict, std::string why)
{
    return {.text = std::string{model::name_of(verdict)}, .exact = std::move(why), .tone = tone_of(verdict)};
}

Cell verdict_cell(const model::AssertionResult& assertion)
{
    if (assertion.outcome == model::AssertionOutcome::passed) {
        return {.text = "held", .tone = Tone::good};
    }
    if (assertion.outcome == model::AssertionOutcome::not_evaluated) {
        return {.text = "not evaluated", .tone = Tone::caution};
    }
    const bool fails = assertion.severity == model::Severity::fail;
    return {.text = fails ? "FAILED" : "warned", .tone = fails ? Tone::bad : Tone::caution};
}

void Document::add_table(TableBlock block, Weight weight)
{
    if (!block.table.rows.empty()) {
        add(std::move(block), weight);
    }
}

void Document::add_stack(std::string_view site, std::span<const std::string> frames, Weight weight)
{
    constexpr std::size_t most_frames = 24;
    if (frames.empty()) {
        return;
    }
    Items items;
    for (const std::string& frame : frames.first(std::min(frames.size(), most_frames))) {
        items.items.push_back({frame});
    }
    if (frames.size() > most_frames) {
        items.items.push_back({"..."});
    }
    add(Section{.title = fmt::format("Stack of {}", site), .blocks = {{std::move(items), Weight::answer}}}, weight);
}

void Document::add_later(Weight weight, std::function<TableBlock()> table)
{
    add(Later{[weight, table = std::move(table)] {
            Document made;
            made.add_table(table(), weight);
            return std::move(made.blocks);
        }},
        weight);
}

std::string summary_of(const Block& block)
{
    if (const auto* table = std::get_if<TableBlock>(&block.part)) {
        return table->table.title;
    }
    const auto* section = std::get_if<Section>(&block.part);
    return section == nullptr ? std::string{} : section->summary.empty() ? section->title : section->summary;
}

}  // namespace memsweep::reporters
