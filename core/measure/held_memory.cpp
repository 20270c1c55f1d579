#include "core/measure/held_memory.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/case_values.hpp"
#include "core/measure/format.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

constexpr double least_working_set_difference = 1024.0 * 1024.0;
constexpr double least_drain_time = 1e-6;  // a drain that found nothing takes only its clock readings

struct Held {
    std::string_view point;
    double bytes{};
};

std::vector<Held> floating_at_points(const CaseReport& other)
{
    std::vector<Held> held;
    for (const std::string_view point : point_names(other)) {
        if (const auto bytes = case_median(other, point, "floating_bytes")) {
            held.push_back({point, *bytes});
        }
    }
    return held;
}

std::vector<Held> resident_above_base(const CaseReport& base, const CaseReport& other)
{
    std::vector<Held> held;
    for (const std::string_view point : point_names(other)) {
        const auto here = case_median(other, point, "working_set_delta");
        const auto there = case_median(base, point, "working_set_delta");
        if (here && there) {
            const double more = *here - *there;
            held.push_back({point, more >= least_working_set_difference ? more : 0});
        }
    }
    return held;
}

// "after_drop" is a time of its own; any other name needs "at".
std::string when(std::string_view point)
{
    const bool timely = point.starts_with("after_") || point.starts_with("before_");
    return timely ? spoken(std::string{point}) : fmt::format("at {}", point);
}

std::string release_text(const CaseReport& other, std::string_view point)
{
    const auto drain = case_median(other, {}, "drain_time");
    const std::string took =
        drain && *drain >= least_drain_time ? fmt::format(" ({})", base::format_duration(*drain)) : std::string{};
    return fmt::format("; released only {}{}", when(point), took);
}

// Arrays that were never written hold address space, not memory.
std::string resident_text(const CaseReport& other, const Held& first)
{
    const auto resident = case_median(other, first.point, "working_set_delta");
    return resident && *resident < first.bytes / 2
               ? fmt::format(" (only {} resident)", base::format_size(std::max(0.0, *resident)))
               : std::string{};
}

std::string holding_text(const CaseReport& other, const std::vector<Held>& held, std::string_view than)
{
    const auto holds = [](const Held& at) { return at.bytes > 0; };
    const auto first = std::ranges::find_if(held, holds);
    if (first == held.end()) {
        return {};
    }
    const auto released = std::find_if_not(first, held.end(), holds);
    const Held& last = *(released - 1);
    std::string text = fmt::format("holds {}{} {}{}", base::format_size(first->bytes), than, when(first->point),
                                   resident_text(other, *first));
    if (last.point != first->point) {
        text += fmt::format(" and still {} {}", base::format_size(last.bytes), when(last.point));
    }
    return released == held.end() ? text : text + release_text(other, released->point);
}

}  // namespace

std::string held_part(const CaseReport& base, std::string_view base_mode, const CaseReport& other)
{
    if (const std::vector<Held> floating = floating_at_points(other); !floating.empty()) {
        return holding_text(other, floating, {});
    }
    if (const std::vector<Held> resident = resident_above_base(base, other); !resident.empty()) {
        return holding_text(other, resident, fmt::format(" more than {}", base_mode));
    }
    const auto peak = case_median(other, {}, "floating_bytes_peak");
    return peak && *peak > 0 ? fmt::format("up to {} dropped but not yet released", base::format_size(*peak))
                             : std::string{};
}

}  // namespace memsweep::measure
