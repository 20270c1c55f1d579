#include "scenarios/axis_syntax.hpp"

#include <fmt/format.h>

#include "scenarios/axis_range.hpp"
#include "scenarios/limits.hpp"
#include "scenarios/quote.hpp"
#include "scenarios/substitution.hpp"
#include "scenarios/text_check.hpp"

namespace memsweep::scenarios {
namespace {

using Values = base::Expected<std::vector<model::Scalar>>;

tl::unexpected<base::Error> invalid(std::string message)
{
    return base::fail(base::ErrorCode::invalid_input, std::move(message));
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(at + 1);
    }
}

bool looks_like_range(const std::vector<std::string_view>& parts)
{
    return parts.size() == 3 && (parts[2].starts_with('*') || parts[2].starts_with('+'));
}

// [1:10] is a range without its step; host:pinned is a value.
bool lacks_step(const std::vector<std::string_view>& parts)
{
    return parts.size() >= 2 && !parts[0].empty() && parts[0][0] >= '0' && parts[0][0] <= '9';
}

Values list_values(std::string_view body)
{
    std::vector<model::Scalar> values;
    for (const std::string_view item : split(body, ',')) {
        if (item.empty() || values.size() == max_axis_values) {
            return invalid(item.empty() ? "an empty value; write [VALUE,VALUE] without blanks"
                                        : fmt::format("more than {} values", max_axis_values));
        }
        values.push_back(scalar_of_text(item));
    }
    return values;
}

}  // namespace

Values parse_axis_values(std::string_view text)
{
    if (text.size() > max_text_bytes * 16 || find_bad_byte(text)) {
        return invalid("too long, or not plain UTF-8 text");
    }
    if (!text.starts_with('[')) {
        return list_values(text);
    }
    if (!text.ends_with(']')) {
        return invalid(fmt::format("{} lacks its closing bracket", in_quotes(text)));
    }
    const std::string_view body = text.substr(1, text.size() - 2);
    const auto parts = split(body, ':');
    if (looks_like_range(parts)) {
        return range_values({scalar_of_text(parts[0]), scalar_of_text(parts[1]), scalar_of_text(parts[2].substr(1)),
                             parts[2].starts_with('*')});
    }
    if (lacks_step(parts)) {
        return invalid(fmt::format("{} is not a range: write [FROM:TO:*FACTOR] or [FROM:TO:+STEP]", in_quotes(text)));
    }
    return list_values(body);
}

base::Expected<std::pair<std::string, std::string>> split_assignment(std::string_view text)
{
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
        return invalid(fmt::format("{} is not NAME=VALUE", in_quotes(text)));
    }
    return std::pair{std::string{text.substr(0, equals)}, std::string{text.substr(equals + 1)}};
}

}  // namespace memsweep::scenarios
