#include "core/measure/recorded_comparison.hpp"

#include <algorithm>
#include <locale>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/paired_comparison.hpp"

namespace memsweep::measure {
namespace {

constexpr std::string_view threshold_prefix = "judged.threshold.";

std::string text_of(const model::RatioOf& one)
{
    return fmt::format("{}={}", one.axis, one.value);
}

std::optional<model::RatioOf> ratio_in(const std::map<std::string, std::string>& overrides, const std::string& key)
{
    const auto found = overrides.find(key);
    const std::size_t sign = found == overrides.end() ? std::string::npos : found->second.find('=');
    if (sign == std::string::npos) {
        return std::nullopt;
    }
    return model::RatioOf{found->second.substr(0, sign), found->second.substr(sign + 1)};
}

// No number of C++'s streams reads "inf".
std::optional<Threshold> threshold_in(const std::string& text)
{
    std::istringstream words{text};
    words.imbue(std::locale::classic());
    Threshold threshold;
    std::string most;
    if (!(words >> threshold.relative >> threshold.absolute >> most)) {
        return std::nullopt;
    }
    if (most != "inf") {
        std::istringstream number{most};
        number.imbue(std::locale::classic());
        if (!(number >> threshold.at_most)) {
            return std::nullopt;
        }
    }
    return threshold;
}

std::set<std::string, std::less<>> names_in(const std::map<std::string, std::string>& overrides, const std::string& key)
{
    std::set<std::string, std::less<>> names;
    if (const auto found = overrides.find(key); found != overrides.end()) {
        std::istringstream words{found->second};
        for (std::string word; words >> word;) {
            names.insert(word);
        }
    }
    return names;
}

Criteria criteria_in(const std::map<std::string, std::string>& overrides)
{
    Criteria criteria;
    for (const auto& [key, text] : overrides) {
        if (const auto threshold = key.starts_with(threshold_prefix) ? threshold_in(text) : std::nullopt) {
            criteria.thresholds.insert_or_assign(key.substr(threshold_prefix.size()), *threshold);
        }
    }
    criteria.only = names_in(overrides, "judged.metrics");
    criteria.informational = names_in(overrides, "judged.informational");
    for (const std::string& name : names_in(overrides, "judged.informational_units")) {
        for (const auto& unit : model::names<model::Unit>()) {
            if (unit.name == name) {
                criteria.informational_units.insert(unit.value);
            }
        }
    }
    criteria.points = overrides.contains("judged.points");
    criteria.strict_counters = overrides.contains("judged.strict_counters");
    return criteria;
}

// The command line of a result that an earlier memsweep has written says that two programs were compared.
bool names_other_program(const std::vector<std::string>& argv)
{
    const auto end = std::ranges::find(argv, "--");
    return std::any_of(argv.begin(), end,
                       [](const std::string& word) { return word == "--against" || word.starts_with("--against="); });
}

}  // namespace

std::map<std::string, std::string> record_comparison(const model::RatioOf& base, const model::RatioOf& candidate,
                                                     const Criteria& criteria)
{
    std::map<std::string, std::string> kept{{"judged.base", text_of(base)}, {"judged.candidate", text_of(candidate)}};
    for (const auto& [name, threshold] : criteria.thresholds) {
        kept.emplace(fmt::format("{}{}", threshold_prefix, name),
                     fmt::format("{} {} {}", threshold.relative, threshold.absolute, threshold.at_most));
    }
    const auto keep_if = [&](const std::string& key, std::string text) {
        if (!text.empty()) {
            kept.emplace(key, std::move(text));
        }
    };
    keep_if("judged.metrics", fmt::format("{}", fmt::join(criteria.only, " ")));
    keep_if("judged.informational", fmt::format("{}", fmt::join(criteria.informational, " ")));
    std::vector<std::string_view> units;
    for (const model::Unit unit : criteria.informational_units) {
        units.push_back(model::name_of(unit));
    }
    keep_if("judged.informational_units", fmt::format("{}", fmt::join(units, " ")));
    keep_if("judged.points", criteria.points ? "true" : "");
    keep_if("judged.strict_counters", criteria.strict_counters ? "true" : "");
    return kept;
}

std::optional<Comparison> recorded_comparison(const model::RunReport& report)
{
    const std::map<std::string, std::string>& overrides = report.run.overrides;
    auto base = ratio_in(overrides, "judged.base");
    auto candidate = ratio_in(overrides, "judged.candidate");
    if ((!base || !candidate) && names_other_program(report.run.argv)) {
        base = model::RatioOf{"build", "base"};
        candidate = model::RatioOf{"build", "candidate"};
    }
    if (!base || !candidate) {
        return std::nullopt;
    }
    auto compared = compare_rounds(report, *base, *candidate, criteria_in(overrides));
    return compared ? std::optional{*std::move(compared)} : std::nullopt;
}

}  // namespace memsweep::measure
