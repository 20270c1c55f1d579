#include "core/measure/mode_contrast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/case_values.hpp"
#include "core/measure/format.hpp"
#include "core/measure/held_memory.hpp"
#include "core/measure/mode_groups.hpp"
#include "core/measure/pairing.hpp"
#include "core/measure/thresholds.hpp"
#include "core/measure/time_contrast.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

constexpr std::size_t most_sentences = 8;
constexpr Threshold peak_threshold{0.02, 1024.0 * 1024.0};  // the default of the working set

struct Contrast {
    std::optional<double> time_factor;
    std::string sentence;
};

std::string peak_part(const CaseReport& base, std::string_view base_mode, const CaseReport& other)
{
    for (const std::string_view metric : {"working_set_peak", "live_bytes_peak"}) {
        const auto from = case_median(base, {}, metric);
        const auto to = case_median(other, {}, metric);
        if (from && to) {
            return beyond(peak_threshold, *from, *to - *from)
                       ? fmt::format("{} {} against {}'s {}", spoken(std::string{metric}),
                                     format_value(model::Unit::bytes, *to), base_mode,
                                     format_value(model::Unit::bytes, *from))
                       : std::string{};
        }
    }
    return {};
}

std::string subject(const CaseReport& report, bool with_scenario)
{
    std::vector<std::string> rest = params_without(report, std::array{mode_axis});
    if (with_scenario) {
        rest.insert(rest.begin(), report.scenario);
    }
    return rest.empty() ? *mode_of(report) : fmt::format("{} ({})", *mode_of(report), fmt::join(rest, ", "));
}

Contrast contrast(const CaseReport& base, const CaseReport& other, bool with_scenario)
{
    const std::string base_mode = *mode_of(base);
    const auto time = time_contrast(base, other);
    std::vector<std::string> parts{time ? time_part(*time, base_mode) : std::string{},
                                   time ? fault_part(*time, base, other) : std::string{},
                                   held_part(base, base_mode, other), peak_part(base, base_mode, other)};
    std::erase(parts, std::string{});
    return {time ? std::optional{time->ratio.estimate} : std::nullopt,
            parts.empty() ? std::string{}
                          : fmt::format("{}: {}", subject(other, with_scenario), fmt::join(parts, "; "))};
}

std::vector<Contrast> contrasts(std::span<const CaseReport> cases)
{
    const bool several_scenarios =
        std::ranges::any_of(cases, [&](const CaseReport& one) { return one.scenario != cases.front().scenario; });
    std::vector<Contrast> all;
    for (const ModeGroup& group : mode_groups(cases)) {
        for (const CaseReport* other : group.cases) {
            if (other != group.base) {
                all.push_back(contrast(*group.base, *other, several_scenarios));
            }
        }
    }
    std::erase_if(all, [](const Contrast& one) { return one.sentence.empty(); });
    return all;
}

double distance(const Contrast& contrast)
{
    return contrast.time_factor ? std::fabs(std::log(*contrast.time_factor)) : 0;
}

std::string rest_sentence(std::span<const Contrast> rest)
{
    std::vector<double> factors;
    for (const Contrast& one : rest) {
        if (one.time_factor) {
            factors.push_back(*one.time_factor);
        }
    }
    const std::string count = fmt::format("{} more case{}", rest.size(), rest.size() == 1 ? "" : "s");
    if (factors.empty()) {
        return fmt::format("{} of other release modes", count);
    }
    const auto [low, high] = std::ranges::minmax(factors);
    return fmt::format("{} of other release modes: {}x to {}x the time of their base", count, format_factor(low),
                       format_factor(high));
}

}  // namespace

std::vector<std::string> mode_sentences(std::span<const CaseReport> cases)
{
    std::vector<Contrast> all = contrasts(cases);
    const std::size_t shown = std::min(all.size(), most_sentences);
    if (all.size() > shown) {
        std::ranges::stable_sort(all, std::greater{}, distance);
    }
    std::vector<std::string> sentences;
    std::ranges::transform(std::span{all}.first(shown), std::back_inserter(sentences), &Contrast::sentence);
    if (all.size() > shown) {
        sentences.push_back(rest_sentence(std::span{all}.subspan(shown)));
    }
    return sentences;
}

}  // namespace memsweep::measure
