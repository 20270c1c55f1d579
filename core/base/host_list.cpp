#include "core/base/host_list.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace memsweep::base {
namespace {

constexpr std::size_t max_names = 1'000'000;

// Splits at commas that no bracket encloses; empty where brackets do not match.
std::optional<std::vector<std::string_view>> split(std::string_view text)
{
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == ']') {
            if (inside == (text[i] == '[')) {
                return std::nullopt;
            }
            inside = !inside;
        } else if (text[i] == ',' && !inside) {
            parts.push_back(text.substr(start, i - start));
            start = i + 1;
        }
    }
    parts.push_back(text.substr(start));
    return inside ? std::nullopt : std::optional{std::move(parts)};
}

// A sign, a blank or a control byte makes none: "-1" is a number gone wrong.
bool may_be_name(std::string_view part)
{
    const bool has_blank = std::ranges::any_of(part, [](unsigned char c) { return c <= ' ' || c == 0x7F; });
    return !part.empty() && !has_blank && part.front() != '-' && part.front() != '+';
}

// "001-003" or "7"; false where it is neither, or too long.
bool append_range(std::string_view text, std::vector<std::string>& out)
{
    const std::size_t dash = text.find('-');
    const std::string_view low = text.substr(0, dash);
    const auto from = parse_number(low);
    const auto to = dash == std::string_view::npos ? from : parse_number(text.substr(dash + 1));
    if (!from || !to || *to < *from || *to - *from >= max_names || out.size() + (*to - *from) >= max_names) {
        return false;
    }
    for (std::uint64_t i = *from; i <= *to; ++i) {
        out.push_back(fmt::format("{:0{}}", i, low.size()));
    }
    return true;
}

std::optional<std::vector<std::string>> expand_one(std::string_view name)
{
    std::vector<std::string> made{""};
    while (!name.empty()) {
        const std::size_t open = std::min(name.find('['), name.size());
        std::vector<std::string> middles{""};
        std::size_t after = open;
        if (open < name.size()) {
            const std::size_t close = name.find(']', open);
            middles.clear();
            std::string_view ranges = name.substr(open + 1, close - open - 1);
            while (true) {
                const std::size_t comma = std::min(ranges.find(','), ranges.size());
                if (!append_range(ranges.substr(0, comma), middles)) {
                    return std::nullopt;
                }
                if (comma == ranges.size()) {
                    break;
                }
                ranges.remove_prefix(comma + 1);
            }
            after = close + 1;
        }
        if (made.size() * middles.size() > max_names) {
            return std::nullopt;
        }
        std::vector<std::string> longer;
        for (const std::string& start : made) {
            for (const std::string& middle : middles) {
                longer.push_back(start);
                longer.back().append(name.substr(0, open)).append(middle);
            }
        }
        made = std::move(longer);
        name.remove_prefix(after);
    }
    return made;
}

}  // namespace

Expected<std::vector<std::string>> expand_host_list(std::string_view text)
{
    const auto bad = [&](std::string_view what) {
        return fail(ErrorCode::invalid_input,
                    fmt::format("\"{}\" is no list of hosts such as n[001-128]: {}", text, what));
    };
    const auto parts = split(text);
    if (!parts) {
        return bad("its brackets do not match");
    }
    std::vector<std::string> names;
    for (const std::string_view part : *parts) {
        const auto made = may_be_name(part) ? expand_one(part) : std::nullopt;
        if (!made || names.size() + made->size() > max_names) {
            return bad(fmt::format("\"{}\" names no hosts, or too many", part));
        }
        names.insert(names.end(), made->begin(), made->end());
    }
    return names;
}

}  // namespace memsweep::base
