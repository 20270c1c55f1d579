#include "reporters/document/chart_groups.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/cases.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

bool modes_vary(const Cases& cases)
{
    std::set<std::optional<std::string>> modes;
    std::ranges::for_each(cases, [&](const auto* one) { modes.insert(measure::mode_of(*one)); });
    return modes.size() > 1;
}

// "name=value" of the parameters that not all cases have alike.
std::set<std::string> varying_params(const Cases& cases)
{
    std::map<std::string, std::size_t> counts;
    for (const model::CaseReport* one : cases) {
        for (std::string& text : measure::params_without(*one, std::array{measure::mode_axis})) {
            ++counts[std::move(text)];
        }
    }
    std::set<std::string> varying;
    for (const auto& [text, count] : counts) {
        if (count < cases.size()) {
            varying.insert(text);
        }
    }
    return varying;
}

std::string group_title(const model::CaseReport& report, const std::set<std::string>& varying)
{
    std::vector<std::string> parts = measure::params_without(report, std::array{measure::mode_axis});
    std::erase_if(parts, [&](const std::string& part) { return !varying.contains(part); });
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string joined_cells(const std::vector<Cell>& cells)
{
    std::string text;
    for (const Cell& cell : cells) {
        text += (text.empty() || cell.text.empty() ? "" : ", ") + cell.text;
    }
    return text;
}

struct Sorted {
    std::string title;
    Cases cases;
};

std::vector<Sorted> by_title(const Cases& cases)
{
    const std::set<std::string> varying = varying_params(cases);
    std::vector<Sorted> groups;
    for (const model::CaseReport* one : cases) {
        std::string title = group_title(*one, varying);
        auto group = std::ranges::find(groups, title, &Sorted::title);
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {std::move(title), {}});
        }
        group->cases.push_back(one);
    }
    return groups;
}

std::vector<std::string> labels_of(const Cases& cases, bool by_mode)
{
    const CaseKeys keys{cases};
    std::vector<std::string> labels;
    for (const model::CaseReport* one : cases) {
        labels.push_back(by_mode ? measure::mode_of(*one).value_or(one->id) : joined_cells(keys.cells(*one)));
    }
    make_distinct(labels);
    return labels;
}

void append_parts(const Sorted& sorted, bool by_mode, std::size_t most, std::vector<ChartGroup>& groups)
{
    const std::vector<std::string> labels = labels_of(sorted.cases, by_mode);
    const std::size_t parts = (labels.size() + most - 1) / most;
    for (std::size_t part = 0; part < parts; ++part) {
        const std::string number = parts > 1 ? fmt::format("part {} of {}", part + 1, parts) : std::string{};
        const std::string_view between = sorted.title.empty() || number.empty() ? "" : ", ";
        ChartGroup group{fmt::format("{}{}{}", sorted.title, between, number), {}};
        for (std::size_t i = part * most; i < std::min((part + 1) * most, labels.size()); ++i) {
            group.cases.push_back({labels[i], sorted.cases[i]});
        }
        groups.push_back(std::move(group));
    }
}

}  // namespace

std::vector<ChartGroup> chart_groups(const Cases& cases, std::size_t most)
{
    const bool by_mode = modes_vary(cases);
    std::vector<ChartGroup> groups;
    for (const Sorted& sorted : by_mode ? by_title(cases) : std::vector{Sorted{{}, cases}}) {
        append_parts(sorted, by_mode, most, groups);
    }
    return groups;
}

void make_distinct(std::vector<std::string>& labels)
{
    std::set<std::string> taken;
    for (std::string& label : labels) {
        const std::string plain = label.empty() ? "–" : inert_text(label);
        label = plain;
        for (std::size_t number = 2; !taken.insert(label).second; ++number) {
            label = fmt::format("{} #{}", plain, number);
        }
    }
}

}  // namespace memsweep::reporters
