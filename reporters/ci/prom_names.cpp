#include "reporters/ci/prom_names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "reporters/ci/benchmark_names.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

// Lower case, since promtool finds fault with anything else.
std::string plain_name(std::string_view text)
{
    std::string name;
    for (const char c : text) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        name += is_upper ? static_cast<char>(c - 'A' + 'a') : is_plain ? c : '_';
    }
    return name;
}

// Ends that belong to counters, histograms and summaries.
bool ends_as_another_type(std::string_view name)
{
    constexpr std::array<std::string_view, 7> ends{"_total", "_count", "_sum", "_bucket", "_created", "_info", "_gsum"};
    return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

std::string stem_of(const model::Metric& metric, const std::string& suffix)
{
    std::string stem = "memsweep_" + plain_name(metric.name);
    if (!suffix.empty() && stem.ends_with(suffix)) {
        stem.resize(stem.size() - suffix.size());
    }
    return suffix.empty() && ends_as_another_type(stem) ? stem + "_value" : stem;
}

Family family_of(const model::Metric& metric, std::set<std::string>& taken)
{
    const std::string_view unit = unit_word(metric.unit);
    const std::string suffix = unit.empty() ? std::string{} : fmt::format("_{}", unit);
    const std::string stem = stem_of(metric, suffix);
    std::string name = stem + suffix;
    for (int number = 2; !taken.insert(name).second; ++number) {
        name = fmt::format("{}_{}{}", stem, number, suffix);
    }
    return {metric.name, metric.unit, std::move(name)};
}

// Not one that means something of its own to Prometheus or to us.
std::string label_name(const std::string& axis)
{
    constexpr std::array<std::string_view, 4> reserved{"scenario", "le", "quantile", "number"};
    const std::string name = plain_name(axis);
    const bool is_free = !name.empty() && name.front() >= 'a' && std::ranges::find(reserved, name) == reserved.end();
    return is_free ? name : "axis_" + name;
}

std::string labels_of(const model::CaseReport& report)
{
    std::vector<std::string> names;
    std::ranges::transform(report.params, std::back_inserter(names),
                           [](const model::Param& param) { return label_name(param.name); });
    names = unique_names(std::move(names), "_");
    std::string labels = label("scenario", report.scenario);
    for (std::size_t i = 0; i < names.size(); ++i) {
        labels += "," + label(names[i], model::to_text(report.params[i].value));
    }
    return labels;
}

}  // namespace

std::string_view unit_word(model::Unit unit)
{
    switch (unit) {
    case model::Unit::bytes:
        return "bytes";
    case model::Unit::seconds:
        return "seconds";
    case model::Unit::bytes_per_second:
        return "bytes_per_second";
    case model::Unit::per_second:
        return "operations_per_second";
    case model::Unit::one:
        return {};
    }
    return {};
}

std::vector<Family> families(const model::RunReport& report, const std::vector<std::string>& taken)
{
    std::set<std::string> names{taken.begin(), taken.end()};
    std::set<std::pair<std::string_view, model::Unit>> known;
    std::vector<Family> all;
    for (const model::CaseReport& one : report.cases) {
        for (const model::Metric& metric : one.metrics) {
            const bool is_shown = one.status == model::Status::ok && metric.summary;
            if (is_shown && known.emplace(metric.name, metric.unit).second) {
                all.push_back(family_of(metric, names));
            }
        }
    }
    return all;
}

std::vector<std::string> label_sets(const model::RunReport& report)
{
    std::vector<std::string> sets;
    std::set<std::string> taken;
    for (const model::CaseReport& one : report.cases) {
        const std::string labels = labels_of(one);
        sets.push_back(labels);
        for (int number = 2; !taken.insert(sets.back()).second; ++number) {
            sets.back() = fmt::format("{},number=\"{}\"", labels, number);
        }
    }
    return sets;
}

std::string label(std::string_view name, std::string_view value)
{
    std::string text = fmt::format("{}=\"", name);
    for (const char c : repaired_utf8(value)) {
        if (c == '\n') {
            text += "\\n";
        } else {
            text += c == '\\' || c == '"' ? std::string{'\\', c} : std::string{c};
        }
    }
    return text + '"';
}

}  // namespace memsweep::reporters
