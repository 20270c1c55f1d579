#include "reporters/ci/trace_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace memsweep::reporters {
namespace {

constexpr double longest_seconds = 86'400;
constexpr std::int64_t last_start_ns = 9'000'000'000'000'000'000;

std::optional<std::int64_t> whole_nanoseconds(double seconds)
{
    const bool has_place = seconds >= 0 && seconds <= longest_seconds;  // not true of what is no number
    return has_place ? std::optional{static_cast<std::int64_t>(std::llround(seconds * 1e9))} : std::nullopt;
}

// A thin gap, so that one repetition can be told from the next.
std::int64_t gap_after(std::int64_t length_ns)
{
    constexpr std::int64_t least_ns = 1'000;
    return std::max(least_ns, length_ns / 20);
}

bool comes_before(const PlacedPhase& left, const PlacedPhase& right)
{
    return std::tuple{left.start_ns, -left.end_ns} < std::tuple{right.start_ns, -right.end_ns};
}

using Open = std::vector<std::int64_t>;  // where the phases end that enclose the next one, the innermost last

bool takes(Open& open, const PlacedPhase& phase)
{
    while (!open.empty() && open.back() <= phase.start_ns) {
        open.pop_back();
    }
    if (!open.empty() && open.back() < phase.end_ns) {
        return false;
    }
    open.push_back(phase.end_ns);
    return true;
}

void assign_lanes(std::vector<PlacedPhase>& phases)
{
    std::vector<Open> lanes;
    for (PlacedPhase& phase : phases) {
        while (phase.lane < lanes.size() && !takes(lanes[phase.lane], phase)) {
            ++phase.lane;
        }
        if (phase.lane == lanes.size()) {
            lanes.push_back({phase.end_ns});
        }
    }
}

}  // namespace

Timeline::Timeline(const model::CaseReport& report)
{
    for (const model::Phase& phase : report.phases) {
        reach(phase.repetition, phase.end);
    }
    for (const model::Point& point : report.points) {
        reach(point.repetition, point.t);
    }
    for (const model::Series& series : report.series) {
        std::ranges::for_each(series.t, [&](double t) { reach(series.repetition, t); });
    }
    std::int64_t start = 0;
    for (auto& [repetition, span] : spans_) {
        const std::int64_t length = span.end_ns;
        span = {start, start + length};
        start = std::min(last_start_ns, span.end_ns + gap_after(length));
    }
}

void Timeline::reach(std::uint32_t repetition, double seconds)
{
    if (const auto ns = whole_nanoseconds(seconds)) {
        Span& span = spans_[repetition];
        span.end_ns = std::max(span.end_ns, *ns);
    }
}

std::optional<std::int64_t> Timeline::at(std::uint32_t repetition, double seconds) const
{
    const auto span = spans_.find(repetition);
    const auto ns = whole_nanoseconds(seconds);
    return span != spans_.end() && ns ? std::optional{span->second.start_ns + *ns} : std::nullopt;
}

std::vector<PlacedPhase> Timeline::phases(const model::CaseReport& report) const
{
    std::vector<PlacedPhase> placed;
    for (const model::Phase& phase : report.phases) {
        const auto start = at(phase.repetition, phase.start);
        const auto end = at(phase.repetition, phase.end);
        if (start && end && *start <= *end) {
            placed.push_back({.phase = &phase, .start_ns = *start, .end_ns = *end});
        }
    }
    std::ranges::stable_sort(placed, comes_before);
    assign_lanes(placed);
    return placed;
}

}  // namespace memsweep::reporters
