#include "reporters/document/table.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/command_words.hpp"
#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
void Table::add_numbers(std::initializer_list<const char*> titles)
{
    for (const char* name : titles) {
        columns.push_back(Column::number(name));
    }
}

std::string value_text(double value, model::Unit unit)
{
    return std::isfinite(value) ? measure::format_value(unit, value) : std::string{};
}

std::string exact_text(double value, model::Unit unit)
{
    if (!std::isfinite(value)) {
        return {};
    }
    const bool whole = value == std::floor(value) && std::fabs(value) < 1e15;
    const std::string digits = whole ? base::format_count(value) : number_text(value);
    return unit == model::Unit::one ? digits : fmt::format("{} {}", digits, model::name_of(unit));
}

std::string percent_text(double fraction)
{
    return std::isfinite(fraction) ? base::format_number(fraction * 100, 1) + "%" : std::string{};
}

std::string interval_text(const Interval& ends, model::Unit unit)
{
    return interval_text(ends, " to ", [&](double end) { return value_text(end, unit); });
}

std::string exact_interval_text(const Interval& ends, model::Unit unit)
{
    return interval_text(ends, " to ", [&](double end) { return exact_text(end, unit); });
}

Cell value_cell(std::optional<double> value, model::Unit unit)
{
    return value ? Cell{.text = value_text(*value, unit), .exact = exact_text(*value, unit)} : Cell{};
}

Cell count_cell(std::uint64_t count, Tone tone)
{
    return {.text = base::format_count(static_cast<double>(count)), .tone = tone};
}

std::string plural(std::uint64_t count, std::string_view noun)
{
    return measure::counted(count, noun);
}

std::string listed(const std::vector<std::string>& texts, std::string_view between)
{
    return fmt::format("{}", fmt::join(texts, between));
}

std::string capitalised(std::string text)
{
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text;
}

std::string command_line(const std::vector<std::string>& arguments)
{
    std::string line;
    for (const std::string& argument : arguments) {
        line += (line.empty() ? "" : " ") + base::shell_word(argument);
    }
    return line;
}

std::optional<double> median_of(std::vector<double> values)
{
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) {
        return std::nullopt;
    }
    return measure::median(std::move(values));
}

}  // namespace memsweep::reporters
