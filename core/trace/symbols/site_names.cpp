#include "core/trace/symbols/site_names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/trace/symbols/function_names.hpp"
#include "core/trace/symbols/symbolizer.hpp"

namespace memsweep::trace {
namespace {

// Goes back to the last * where the letters behind it do not fit.
bool fits(std::string_view text, std::string_view pattern)
{
    std::size_t at = 0;
    std::size_t in_pattern = 0;
    std::size_t behind_star = std::string_view::npos;
    std::size_t retry = 0;
    while (at < text.size()) {
        if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
            behind_star = ++in_pattern;
            retry = at;
        } else if (in_pattern < pattern.size() && (pattern[in_pattern] == '?' || pattern[in_pattern] == text[at])) {
            ++at;
            ++in_pattern;
        } else if (behind_star != std::string_view::npos) {
            in_pattern = behind_star;
            at = ++retry;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

// "load" of "(anonymous namespace)::load".
std::string without_anonymous(std::string name)
{
    constexpr std::string_view anonymous = "(anonymous namespace)::";
    for (std::size_t at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous)) {
        name.erase(at, anonymous.size());
    }
    return name;
}

std::vector<std::string> names_of(const ResolvedFrame& place)
{
    std::vector<std::string> names{place_name(place), std::string{place.function}};
    if (place.is_named) {
        names.emplace_back(bare_name(place.function));
        names.push_back(without_anonymous(names.back()));
    }
    if (!place.file.empty()) {
        for (const std::string_view file : {place.file, file_name(place.file)}) {
            names.emplace_back(file);
            if (place.line != 0) {
                names.push_back(fmt::format("{}:{}", file, place.line));
            }
        }
    }
    return names;
}

base::Error unknown_site(const StackSites& sites, const std::vector<bool>& is_site, const std::string& name)
{
    std::vector<std::string> known;
    for (std::size_t site = 1; site < sites.places.size(); ++site) {
        if (!is_site[site]) {
            continue;
        }
        const std::vector<std::string> names = names_of(sites.places[site]);
        known.insert(known.end(), names.begin(), names.end());
    }
    std::ranges::sort(known);
    known.erase(std::ranges::unique(known).begin(), known.end());
    const std::vector<std::string_view> views{known.begin(), known.end()};
    std::string near = base::suggestion(name, views);
    if (near.empty() || near.find("did you mean") == std::string::npos) {
        std::string holding;
        constexpr std::size_t most_shown = 5;
        std::size_t shown = 0;
        for (const std::string_view one : views) {
            if (shown < most_shown && one.find(name) != std::string_view::npos) {
                holding += fmt::format("{}\"{}\"", shown == 0 ? "" : ", ", one);
                ++shown;
            }
        }
        near = holding.empty() ? near : fmt::format("; near: {}", holding);
    }
    return {base::ErrorCode::invalid_input,
            fmt::format("\"{}\" is no call site of this trace{}; `memsweep info --by site` lists them", name, near),
            "--without"};
}

}  // namespace

std::string place_name(const ResolvedFrame& place)
{
    if (place.file.empty()) {
        return std::string{place.function};
    }
    const std::string_view file = file_name(place.file);
    const std::string_view function = place.is_named ? bare_name(place.function) : place.function;
    return place.line == 0 ? fmt::format("{} ({})", function, file)
                           : fmt::format("{} ({}:{})", function, file, place.line);
}

bool is_called(const ResolvedFrame& place, std::string_view name)
{
    return std::ranges::any_of(names_of(place), [&](const std::string& one) { return one == name || fits(one, name); });
}

std::vector<bool> nodes_with_events(TraceReader& reader, std::size_t nodes)
{
    std::vector<bool> with_events(nodes);
    Event event;
    while (reader.next(event)) {
        if (event.stack < nodes) {
            with_events[event.stack] = true;
        }
    }
    reader.rewind();
    return with_events;
}

base::Expected<std::vector<bool>> nodes_of_sites(const StackSites& sites, const std::vector<bool>& with_events,
                                                 const std::vector<std::string>& names)
{
    std::vector<bool> is_site(sites.places.size());
    for (std::size_t node = 1; node < sites.of.size(); ++node) {
        is_site[sites.of[node]] = is_site[sites.of[node]] || with_events[node];
    }
    std::vector<bool> is_meant(sites.places.size());
    for (const std::string& name : names) {
        bool is_known = false;
        for (std::size_t site = 1; site < sites.places.size(); ++site) {
            const bool is_one = is_site[site] && is_called(sites.places[site], name);
            is_meant[site] = is_meant[site] || is_one;
            is_known = is_known || is_one;
        }
        if (!is_known) {
            return base::fail(unknown_site(sites, is_site, name));
        }
    }
    std::vector<bool> nodes(sites.of.size());
    for (std::size_t node = 1; node < nodes.size(); ++node) {
        nodes[node] = is_meant[sites.of[node]];
    }
    return nodes;
}

}  // namespace memsweep::trace
