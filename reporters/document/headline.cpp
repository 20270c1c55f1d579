#include "reporters/document/headline.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

// "3 of 4 cases were measured; 1 was skipped."
std::string cases_sentence(const model::Counts& counts)
{
    if (counts.cases == 0) {
        return "No case was measured.";
    }
    if (counts.ok == counts.cases) {
        return counts.cases == 1 ? "The case was measured." : fmt::format("All {} cases were measured.", counts.cases);
    }
    std::string rest;
    const auto add = [&](std::uint64_t count, std::string_view what) {
        if (count > 0) {
            rest += fmt::format("{}{} {}", rest.empty() ? "" : ", ", count, what);
        }
    };
    add(counts.skipped, "skipped");
    add(counts.failed, "failed");
    add(counts.errors, "ended in an error");
    add(counts.timeouts, "timed out");
    return fmt::format("{} of {} ok; {}.", counts.ok, plural(counts.cases, "case"), rest);
}

std::string assertions_sentence(const model::RunReport& report, const model::Counts& counts)
{
    const std::uint64_t all = report.assertions.size();
    if (all == 0) {
        return "Nothing was asserted.";
    }
    const std::uint64_t unknown = counts.assertions_not_evaluated;
    const std::string rest = unknown == 0 ? "." : fmt::format("; {} could not be evaluated.", unknown);
    if (counts.assertions_failed > 0 || counts.assertions_warned > 0) {
        std::string text = fmt::format("{} of {} failed", counts.assertions_failed, plural(all, "assertion"));
        text += counts.assertions_warned > 0 ? fmt::format(", {} warned", counts.assertions_warned) : std::string{};
        return text + rest;
    }
    if (unknown > 0) {
        return fmt::format("{} of {} hold{}", all - unknown, plural(all, "assertion"), rest);
    }
    return all == 1 ? "The assertion holds." : fmt::format("All {} assertions hold.", all);
}

Tone run_tone(const model::RunReport& report, const model::Counts& counts)
{
    if (counts.assertions_failed + counts.failed + counts.errors + counts.timeouts > 0) {
        return Tone::bad;
    }
    const bool doubtful = report.run.interrupted ||
                          counts.assertions_warned + counts.assertions_not_evaluated + counts.skipped > 0 ||
                          counts.ok == 0;
    return doubtful ? Tone::caution : Tone::good;
}

}  // namespace

Headline headline(const model::RunReport& report)
{
    const model::Counts counts = model::count(report);
    std::string text = report.run.interrupted ? "The run did not finish: these results are partial. " : "";
    text += cases_sentence(counts) + " " + assertions_sentence(report, counts);
    return {std::move(text), run_tone(report, counts)};
}

Tone tone_of(measure::Importance importance)
{
    switch (importance) {
    case measure::Importance::failure:
        return Tone::bad;
    case measure::Importance::warning:
        return Tone::caution;
    case measure::Importance::note:
        return Tone::plain;
    }
    return Tone::plain;
}

}  // namespace memsweep::reporters
