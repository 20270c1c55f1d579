#include "app/commands/snapshot_check.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/commands/explained_returns.hpp"
#include "app/commands/explaining.hpp"
#include "core/measure/site_return.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::app {
namespace {

std::uint64_t apart(std::uint64_t a, std::uint64_t b)
{
    return std::max(a, b) - std::min(a, b);
}

}  // namespace

base::Expected<std::optional<trace::Snapshot>>
nearest_snapshot(const std::string& trace, std::optional<std::uint32_t> process, const AskedTicks& moment)
{
    trace::ReadAt read = MEMSWEEP_TRY(trace::open_for_reading(trace));
    auto file = MEMSWEEP_TRY(trace::TraceFile::open(std::move(read), trace));
    std::vector<trace::FoundSnapshot> found = trace::find_snapshots(file);
    std::erase_if(found, [&](const trace::FoundSnapshot& one) { return process && one.process != *process; });
    if (found.empty()) {
        return std::nullopt;
    }
    const auto distance = [&](const trace::FoundSnapshot& one) {
        const bool is_its_end = moment.is_end && one.at == trace::SnapshotAt::end;
        return is_its_end ? std::uint64_t{0} : 1 + apart(one.ticks, moment.ticks);
    };
    auto snapshot = trace::read_snapshot(file, *std::ranges::min_element(found, {}, distance));
    if (!snapshot) {
        return base::fail(base::ErrorCode::invalid_input, "the snapshot in it is damaged", trace);
    }
    return snapshot;
}

base::Expected<SnapshotAnswer> check_with_snapshot(const trace::Snapshot& snapshot, RemovalBasis basis,
                                                   const AskedTicks& moment,
                                                   const std::optional<measure::ReplayedHeap>& whole,
                                                   const sys::StopSignals& signals)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(basis.trace));
    const trace::FileHeader header = reader.header();
    if (!has_all_blocks(reader.facts())) {
        return SnapshotAnswer{.checked = {}, .why_not = "The recording has not all blocks."};
    }
    const measure::MemoryLedger ledger = MEMSWEEP_TRY(ledger_of(basis.trace, snapshot));
    if (const std::string why_not = why_not_checked(ledger); !why_not.empty()) {
        return SnapshotAnswer{.checked = {}, .why_not = fmt::format("Of the snapshot that is nearest: {}.", why_not)};
    }
    std::optional<measure::ReplayedHeap> replayed = whole;
    if (!replayed) {
        basis.cut = snapshot.cut;
        basis.most_events = std::numeric_limits<std::uint64_t>::max();
        basis.process = snapshot.process;
        replayed = MEMSWEEP_TRY((SiteRemoval{std::move(basis), signals}.without({})));
    }
    const auto rate = static_cast<double>(std::max<std::uint64_t>(header.ticks_per_second, 1));
    const auto seconds = [&](std::uint64_t ticks) { return static_cast<double>(ticks) / rate; };
    const std::uint64_t at = snapshot.cut.ticks;
    const bool is_of_end = snapshot.at == trace::SnapshotAt::end;
    return SnapshotAnswer{
        .checked = reporters::CheckedSnapshot{.is_of_end = is_of_end,
                                              .seconds = seconds(at - std::min(at, header.start_ticks)),
                                              .seconds_from_it =
                                                  is_of_end && moment.is_end ? 0 : seconds(apart(at, moment.ticks)),
                                              .check = measure::replay_check(*replayed, ledger, std::nullopt)},
        .why_not = {}};
}

}  // namespace memsweep::app
