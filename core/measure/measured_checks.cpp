#include "core/measure/measured_checks.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/findings.hpp"
#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

using model::Fitness;
using model::MachineCheck;
using model::Unit;

constexpr double cold_factor = 3;
constexpr double noisy_error = 0.05;
constexpr double noisy_tail = 0.25;
constexpr double restless_error = 0.02;
constexpr double restless_tail = 0.10;
constexpr double much_steal = 0.02;

bool is_cold(const sys::TouchedChunk& chunk)
{
    return chunk.first_seconds > cold_factor * chunk.again_seconds;
}

// Half of all rounds lie closer to the median than `error`; one in twenty takes longer by more than `tail`.
struct Scatter {
    double median{};
    double error{};
    double tail{};
};

Scatter scatter_of(std::vector<double> seconds)
{
    std::ranges::sort(seconds);
    const model::Summary summary = summary_of_sorted(seconds);
    if (summary.median <= 0) {
        return {.median = summary.median};
    }
    return {summary.median, *summary.mdape, percentile(seconds, 95) / summary.median - 1};
}

MachineCheck canary_check(std::string name, std::string why, const std::vector<double>& seconds)
{
    MachineCheck check{.name = std::move(name), .why = std::move(why)};
    if (seconds.empty()) {
        check.status = Fitness::note;
        return check;
    }
    const Scatter scatter = scatter_of(seconds);
    check.value = fmt::format("{} of {}: err {}, one in twenty takes {}x the median", counted(seconds.size(), "round"),
                              base::format_duration(scatter.median), format_percent(scatter.error),
                              format_factor(1 + scatter.tail));
    check.figures = {{"median", Unit::seconds, scatter.median},
                     {"error", Unit::one, scatter.error},
                     {"tail", Unit::one, scatter.tail}};
    if (scatter.error >= noisy_error || scatter.tail >= noisy_tail) {
        check.status = Fitness::spoils;
        check.command =
            "top -b -n 1 | head -n 15    # who else runs; nobody: neighbours on the host, measure elsewhere";
    } else if (scatter.error >= restless_error || scatter.tail >= restless_tail) {
        check.status = Fitness::note;
    }
    return check;
}

MachineCheck steal_check(std::optional<double> share)
{
    MachineCheck check{
        .name = "steal",
        .why = "Time in which the hypervisor ran other guests on this machine's processors counts as time of "
               "what is measured."};
    if (!share) {
        check.status = Fitness::note;
        return check;
    }
    check.value = fmt::format("{} of all processors' time", format_percent(*share));
    check.figures = {{"share", Unit::one, *share}};
    check.status = *share >= much_steal ? Fitness::spoils : *share > 0 ? Fitness::note : Fitness::ok;
    return check;
}

}  // namespace

MachineCheck cold_memory_check(std::span<const sys::TouchedChunk> chunks, std::uint64_t available_bytes)
{
    constexpr std::size_t fewest = 2;
    MachineCheck check{.name = "cold-memory",
                       .why =
                           "Memory that a guest has not used yet, or has given back, comes from the host at its first "
                           "touch: the same array costs several times more once."};
    if (chunks.size() < fewest) {
        check.status = Fitness::note;
        check.why += " There is too little free memory here to find out.";
        return check;
    }
    std::vector<double> first;
    std::vector<double> again;
    for (const sys::TouchedChunk& chunk : chunks) {
        first.push_back(chunk.first_seconds);
        again.push_back(chunk.again_seconds);
    }
    const auto cold = static_cast<std::size_t>(std::ranges::count_if(chunks, is_cold));
    const double slowest = std::ranges::max(first);
    const double usual = median(again);
    check.value = fmt::format("{} of {} chunks of {} cold; a page costs up to {} at first, {} again", cold,
                              chunks.size(), base::format_size(sys::touched_chunk_bytes),
                              base::format_duration(slowest), base::format_duration(usual));
    check.figures = {{"cold_share", Unit::one, static_cast<double>(cold) / static_cast<double>(chunks.size())},
                     {"slowest_first_touch", Unit::seconds, slowest},
                     {"again", Unit::seconds, usual}};
    // One chunk in ten: a single slow one may be an interrupt.
    if (cold >= fewest && cold * 10 >= chunks.size()) {
        check.status = Fitness::spoils;
        check.command = fmt::format("head -c {}M /dev/zero | tail > /dev/null    # touches what is free, once",
                                    (available_bytes / 4 * 3) >> 20);
    } else if (cold != 0) {
        check.status = Fitness::note;
    }
    return check;
}

std::vector<MachineCheck> neighbour_checks(const sys::CanaryReadings& readings)
{
    return {
        canary_check("cpu-canary",
                     "The same computation, again and again: what it varies by, every time measured here varies by.",
                     readings.compute_seconds),
        canary_check("memory-canary",
                     "The same copy, again and again: neighbours share caches and memory bandwidth without being seen.",
                     readings.copy_seconds),
        steal_check(readings.steal_share)};
}

model::Canary canary_of(std::span<const MachineCheck> checks)
{
    const auto figure = [&](std::string_view check_name, std::string_view name) -> std::optional<double> {
        const auto check = std::ranges::find(checks, check_name, &MachineCheck::name);
        if (check == checks.end()) {
            return std::nullopt;
        }
        const auto found = std::ranges::find(check->figures, name, &model::Figure::name);
        return found == check->figures.end() ? std::nullopt : std::optional{found->value};
    };
    return {.compute_error = figure("cpu-canary", "error"),
            .compute_tail = figure("cpu-canary", "tail"),
            .copy_error = figure("memory-canary", "error"),
            .copy_tail = figure("memory-canary", "tail"),
            .steal_share = figure("steal", "share"),
            .is_disturbed = busy_machine_warning(checks).has_value()};
}

std::optional<model::Warning> busy_machine_warning(std::span<const MachineCheck> checks)
{
    std::string figures;
    for (const MachineCheck& check : checks) {
        if (check.status == Fitness::spoils) {
            figures += fmt::format("{}{}: {}", figures.empty() ? "" : "; ", check.name, check.value);
        }
    }
    if (figures.empty()) {
        return std::nullopt;
    }
    return model::Warning{std::string{busy_machine_code},
                          fmt::format("not trustworthy here: other work disturbed this machine before anything was "
                                      "measured ({})",
                                      figures),
                          "end what else runs, or measure elsewhere; memsweep doctor says more"};
}

}  // namespace memsweep::measure
