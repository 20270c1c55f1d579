#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "reporters/ci/ci_formats.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::Verdict;

struct Badge {
    std::string text;
    Tone tone{};
};

// Dark enough for white letters: each has a contrast of 4.5 or more.
std::string_view colour(Tone tone)
{
    switch (tone) {
    case Tone::good:
        return "#2a7a2a";
    case Tone::caution:
        return "#8a6100";
    case Tone::bad:
        return "#b3261e";
    case Tone::plain:
    case Tone::muted:
        break;
    }
    return "#5f6368";
}

// Letters are about 6.5 pixels wide at 11 pixels; textLength makes them fit whatever the font is.
void write(const Badge& badge, TextSink& sink)
{
    constexpr std::string_view label = "memsweep";
    constexpr double letter = 6.5;
    constexpr int margin = 6;
    const auto width = [](std::size_t letters) { return static_cast<int>(static_cast<double>(letters) * letter); };
    const int left = width(label.size()) + 2 * margin;
    const int right = width(badge.text.size()) + 2 * margin;
    const std::string text = escaped(badge.text);
    sink.print("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"20\" role=\"img\" "
               "aria-label=\"{}: {}\">\n<title>{}: {}</title>\n",
               left + right, label, text, label, text);
    sink.print("<rect width=\"{}\" height=\"20\" rx=\"3\" fill=\"#444\"/>\n", left + right);
    sink.print("<path fill=\"{}\" d=\"M{} 0h{}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{}z\"/>\n", colour(badge.tone), left,
               right - 3, left);
    sink.add("<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\n");
    sink.print("<text x=\"{}\" y=\"14\" textLength=\"{}\">{}</text>\n", margin, left - 2 * margin, label);
    sink.print("<text x=\"{}\" y=\"14\" textLength=\"{}\">{}</text>\n</g>\n</svg>\n", left + margin, right - 2 * margin,
               text);
}

Badge badge_of(const measure::Comparison& comparison)
{
    const std::size_t worse = measure::count(comparison, Verdict::regressed);
    const std::size_t failing = measure::count(comparison, Verdict::newly_failing);
    if (worse + failing > 0) {
        return {worse > 0 ? fmt::format("{} regressed", worse) : fmt::format("{} newly failing", failing), Tone::bad};
    }
    if (measure::outcome(comparison) == measure::ComparisonOutcome::no_verdict) {
        return {"no verdict", Tone::caution};
    }
    const std::size_t better = measure::count(comparison, Verdict::improved);
    if (const std::size_t open = measure::count(comparison, Verdict::inconclusive); open > 0) {
        return {better > 0 ? fmt::format("{} improved, {} untold", better, open)
                           : fmt::format("nothing shown, {} untold", open),
                Tone::caution};
    }
    return {better > 0 ? fmt::format("{} improved", better) : "no regression", Tone::good};
}

Badge badge_of(const model::RunReport& report)
{
    const model::StatusCounts counts = model::count(report);
    const Tone tone = run_opening(report).headline.tone;
    const std::uint64_t bad = counts.failed + counts.errors + counts.timeouts;
    const std::string text = counts.assertions_failed > 0 ? plural(counts.assertions_failed, "assertion") + " failed"
                             : bad > 0                    ? plural(bad, "case") + " failed"
                             : counts.ok == counts.cases && counts.cases > 0
                                 ? plural(counts.cases, "case") + " measured"
                                 : fmt::format("{} of {}", counts.ok, plural(counts.cases, "case"));
    return {text, tone};
}

}  // namespace

void write_badge(const ComparisonReport& report, TextSink& sink)
{
    constexpr std::array order{Tone::bad, Tone::caution, Tone::good};
    Badge worst;
    for (const measure::Comparison& one : report.comparisons) {
        Badge badge = badge_of(one);
        if (!report.gate && badge.tone == Tone::bad) {
            badge = {badge.text + ", no gate", Tone::caution};
        }
        if (worst.text.empty() || std::ranges::find(order, badge.tone) < std::ranges::find(order, worst.tone)) {
            worst = std::move(badge);
        }
    }
    write(worst, sink);
}

void write_badge(const model::RunReport& report, TextSink& sink)
{
    auto compared = comparison_report(report);
    if (compared && !has_failed(report)) {
        write_badge(*compared, sink);
    } else {
        write(badge_of(report), sink);
    }
}

void write_badge(const ComparedRun& report, TextSink& sink)
{
    if (has_failed(report.run)) {
        write(badge_of(report.run), sink);
    } else {
        write_badge(report.against, sink);
    }
}

}  // namespace memsweep::reporters
