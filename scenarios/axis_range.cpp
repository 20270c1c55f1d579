#include "scenarios/axis_range.hpp"

#include <limits>
#include <string>

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/base/quantity.hpp"
#include "scenarios/limits.hpp"
#include "scenarios/quote.hpp"

namespace memsweep::scenarios {
namespace {

tl::unexpected<base::Error> invalid(std::string message)
{
    return base::fail(base::ErrorCode::invalid_input, std::move(message));
}

bool is_text(const model::Scalar& value)
{
    return std::holds_alternative<std::string>(value);
}

base::Expected<std::uint64_t> whole(const model::Scalar& value, std::string_view role)
{
    if (const auto* text = std::get_if<std::string>(&value)) {
        auto bytes = base::parse_size(text->size() <= max_name_bytes ? std::string_view{*text} : "...");
        return bytes ? bytes : invalid(fmt::format("range \"{}\": {}", role, bytes.error().message));
    }
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 0) {
        return invalid(
            fmt::format("range \"{}\" must be an integer from 0 on, or a size, not {}; list other values one by one",
                        role, model::to_text(value)));
    }
    return static_cast<std::uint64_t>(*number);
}

struct Bounds {
    std::uint64_t from{}, to{}, by{};
};

base::Expected<Bounds> bounds_of(const AxisRange& range)
{
    const auto from = whole(range.from, "from");
    const auto to = whole(range.to, "to");
    const auto by = range.multiply && is_text(range.by)
                        ? base::Expected<std::uint64_t>{invalid("range \"factor\" must be a bare integer")}
                        : whole(range.by, range.multiply ? "factor" : "step");
    for (const auto* part : {&from, &to, &by}) {
        if (!*part) {
            return base::fail(part->error());
        }
    }
    return Bounds{*from, *to, *by};
}

base::Expected<Bounds> checked_bounds(const AxisRange& range)
{
    auto bounds = bounds_of(range);
    if (!bounds) {
        return bounds;
    }
    if (bounds->from > bounds->to) {
        return invalid(fmt::format("the range is empty: \"from\" {} is above \"to\" {}", model::to_text(range.from),
                                   model::to_text(range.to)));
    }
    if (range.multiply && (bounds->by < 2 || bounds->from == 0)) {
        return invalid(bounds->from == 0 ? "a range with \"factor\" cannot start at 0"
                                         : "range \"factor\" must be an integer from 2 on");
    }
    if (bounds->by == 0) {
        return invalid("range \"step\" must be at least 1");
    }
    return bounds;
}

}  // namespace

base::Expected<std::vector<model::Scalar>> range_values(const AxisRange& range)
{
    const auto bounds = checked_bounds(range);
    if (!bounds) {
        return base::fail(bounds.error());
    }
    const bool sizes = is_text(range.from) || is_text(range.to) || (!range.multiply && is_text(range.by));
    std::vector<model::Scalar> values;
    std::optional<std::uint64_t> value = bounds->from;
    while (value && *value <= bounds->to) {
        if (values.size() == max_axis_values ||
            *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return invalid(fmt::format("the range has more than {} values or passes 64 bits", max_axis_values));
        }
        values.push_back(sizes ? model::Scalar{base::exact_size(*value)}
                               : model::Scalar{static_cast<std::int64_t>(*value)});
        value = range.multiply ? base::checked_mul(*value, bounds->by) : base::checked_add(*value, bounds->by);
    }
    return values;
}

}  // namespace memsweep::scenarios
