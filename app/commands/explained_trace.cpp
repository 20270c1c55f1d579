#include "app/commands/explained_trace.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/commands/explaining.hpp"
#include "core/measure/format.hpp"
#include "core/trace/snapshot.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

using reporters::Explanation;

std::string seconds_text(const trace::TraceReader& reader, std::uint64_t ticks)
{
    const trace::FileHeader& header = reader.header();
    const std::uint64_t since = ticks - std::min(ticks, header.start_ticks);
    return header.ticks_per_second == 0
               ? "a moment that is not known"
               : fmt::format("{:.3f} s", static_cast<double>(since) / static_cast<double>(header.ticks_per_second));
}

base::Expected<trace::FoundSnapshot> wanted_snapshot(const AskedMoment& at, const trace::TraceReader& reader,
                                                     const std::vector<trace::FoundSnapshot>& found,
                                                     const std::string& path)
{
    if (found.empty()) {
        return base::fail(
            base::ErrorCode::invalid_input,
            "has no snapshot of where memory is: record it again with `memsweep record --stacks "
            "--snapshot-at-end -o FILE -- CMD` or with --snapshot-every, or run `memsweep explain -- CMD`",
            path);
    }
    if (at.kind == AskedMoment::Kind::peak) {
        return *std::ranges::max_element(found, {}, &trace::FoundSnapshot::rss_bytes);
    }
    if (at.kind == AskedMoment::Kind::end) {
        const auto end = std::ranges::find_if(
            found, [](const trace::FoundSnapshot& one) { return one.at == trace::SnapshotAt::end; });
        if (end != found.end()) {
            return *end;
        }
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format(
                "has no snapshot of the end, but {} from {} to {}: give --at peak, or a time; --snapshot-at-end "
                "of `memsweep record` takes one at the end",
                measure::counted(found.size(), "other"), seconds_text(reader, found.front().ticks),
                seconds_text(reader, found.back().ticks)),
            path);
    }
    const trace::FileHeader& header = reader.header();
    constexpr double nanoseconds = 1e9;
    const double wanted = static_cast<double>(at.time.count()) / nanoseconds;
    const auto distance = [&](const trace::FoundSnapshot& one) {
        const std::uint64_t since = one.ticks - std::min(one.ticks, header.start_ticks);
        const auto rate = static_cast<double>(std::max<std::uint64_t>(header.ticks_per_second, 1));
        return std::abs(static_cast<double>(since) / rate - wanted);
    };
    return *std::ranges::min_element(found, {}, distance);
}

base::Expected<void> check_recording(const trace::Facts& facts, const std::string& path)
{
    if (!has_all_blocks(facts)) {
        return base::fail(base::ErrorCode::invalid_input,
                          "has not all blocks (record --min-size, --sample): what lies on a page is not known", path);
    }
    return {};
}

}  // namespace

base::Expected<Explanation> explain_trace(const std::string& path, const AskedMoment& at, std::uint32_t removed_sites)
{
    const auto reader = MEMSWEEP_TRY(trace::TraceReader::open(path));
    trace::ReadAt read = MEMSWEEP_TRY(trace::open_for_reading(path));
    auto file = MEMSWEEP_TRY(trace::TraceFile::open(std::move(read), path));
    const std::vector<trace::FoundSnapshot> found = trace::find_snapshots(file);
    const auto wanted = MEMSWEEP_TRY(wanted_snapshot(at, reader, found, path));
    MEMSWEEP_TRY(check_recording(reader.facts(), path));
    const auto snapshot = trace::read_snapshot(file, wanted);
    if (!snapshot) {
        return base::fail(base::ErrorCode::invalid_input, "the snapshot in it is damaged", path);
    }
    ReturnsBasis returns;  // of its environment nothing is known
    ExplainedMoment moment{.at = at.name(),
                           .snapshot = &*snapshot,
                           .why_no_memory = std::string{no_memory_then},
                           .ask = not_asked,
                           .returns = &returns};
    const trace::Facts& facts = reader.facts();
    if (const auto recorded = facts.find("command"); recorded != facts.end()) {
        moment.command = {recorded->second};
    }
    if (const auto processes = facts.find("processes"); processes != facts.end() && processes->second != "1") {
        moment.warnings.push_back(
            fmt::format("The recording has {} processes: the one that the command began with is explained.",
                        reporters::inert_text(processes->second)));
    }
    if (!facts.contains("stacks")) {
        moment.warnings.emplace_back("It was recorded without --stacks: who allocated is not known by name.");
    }
    Explanation explanation = MEMSWEEP_TRY(explain_moment(path, moment));
    take_returns(explanation, returns, removed_sites);
    return explanation;
}

}  // namespace memsweep::app
