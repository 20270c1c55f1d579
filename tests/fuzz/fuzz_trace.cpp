// Any bytes as a trace: read, counted, also by stack, their snapshots read, fitted, given to PyTorch's allocator, and
// replayed.
//
// Errors   a broken promise ends the process: totals that contradict each other, a replay that does something else.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/assert.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/fit.hpp"
#include "core/trace/format/crc32c.hpp"
#include "core/trace/pytorch_allocator.hpp"
#include "core/trace/replay/replayer.hpp"
#include "core/trace/snapshot.hpp"
#include "core/trace/stacks.hpp"
#include "core/trace/summary.hpp"

namespace {

using namespace memsweep;

constexpr std::uint64_t max_fitted_events = 300;

// Compiled for two threads too, so that some blocks change hands, and replayed on no memory: sizes may be anything.
// Starting threads costs more than all else that an input does, so that one input in 64 does it.
void replay(trace::TraceReader& reader, const trace::Totals& totals, bool on_two_threads)
{
    for (const std::uint32_t threads : {1U, 2U}) {
        reader.rewind();
        const auto words = trace::compile_replay(reader, {.threads = threads});
        if (!words) {
            MEMSWEEP_ASSERT(words.error().message.find("add up to more than 64 bits") != std::string::npos,
                            "so few events compile");
            return;
        }
        const auto program = trace::view(*words);
        MEMSWEEP_ASSERT(program, "what was compiled can be replayed");
        const trace::ReplayTotals& compiled = program->header->totals;
        MEMSWEEP_ASSERT(compiled.allocations == totals.allocations && compiled.frees == totals.frees &&
                            compiled.peak_live_bytes == totals.peak_live_bytes,
                        "a replay does what is counted");
        if (threads == 1 || on_two_threads) {
            trace::Replayer replayer{*program};
            MEMSWEEP_ASSERT(replayer.on_nothing().events == compiled.events, "every event is replayed");
        }
    }
}

void simulate_pytorch(trace::TraceReader& reader)
{
    reader.rewind();
    const trace::PyTorchOps ops = trace::pytorch_ops(reader, 0);
    for (const trace::PyTorchSettings& settings :
         {trace::PyTorchSettings{}, trace::PyTorchSettings{.expandable = true},
          trace::PyTorchSettings{.max_split = 32 * trace::mib, .gc_threshold = 0.5}}) {
        for (const std::optional<std::uint64_t> capacity : {std::optional<std::uint64_t>{}, {64 * trace::mib}}) {
            const trace::PyTorchOutcome outcome = trace::simulate(ops, settings, capacity, 4);
            MEMSWEEP_ASSERT(outcome.allocated_peak <= outcome.reserved_peak, "what is allocated is reserved");
            MEMSWEEP_ASSERT(outcome.reserved_end <= outcome.reserved_peak, "a peak is the highest");
        }
    }
}

// What all stacks have is what the trace has.
void count_by_stack(trace::TraceReader& reader, const trace::Totals& totals)
{
    reader.read_stacks();
    const trace::CountedAllocations counted = trace::count_allocations(reader, trace::CountedBy::stack);
    const bool has_exact_total = counted.is_exact() || counted.has_exact_callers;
    const bool is_whole = reader.outcome().has_value() && has_exact_total && counted.impossible_event == 0;
    MEMSWEEP_ASSERT(!is_whole || (counted.total.allocations == totals.allocations &&
                                  counted.total.peak_bytes == totals.peak_live_bytes),
                    "stacks count as the trace does");
}

// Whoever goes through the pages goes through mappings.
void read_snapshots(trace::ReadAt read)
{
    auto file = trace::TraceFile::open(std::move(read), "fuzz");
    MEMSWEEP_ASSERT(file, "what was opened once opens again");
    for (const trace::FoundSnapshot& found : trace::find_snapshots(*file)) {
        const auto snapshot = trace::read_snapshot(*file, found);
        std::uint64_t behind = 0;
        for (const sys::PageRun& run : snapshot ? snapshot->space.pages : std::vector<sys::PageRun>{}) {
            MEMSWEEP_ASSERT(behind <= run.begin && run.begin < run.end, "pages are in order");
            behind = run.end;
        }
    }
}

// No more is before the end of the work than there is.
void read_to_mark(trace::TraceReader& reader, const trace::TraceSummary& summary)
{
    const auto mark = reader.end_mark();
    const bool is_told = !reader.outcome() || mark.has_value() == summary.end_of_work.has_value();
    MEMSWEEP_ASSERT(is_told, "a summary tells of the mark");
    MEMSWEEP_ASSERT(!summary.end_of_work || summary.end_of_work->events <= summary.totals.events,
                    "events before a mark");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    auto reader = trace::TraceReader::open(trace::read_from_memory({data, size}), "fuzz");
    if (!reader) {
        MEMSWEEP_ASSERT(!reader.error().message.empty(), "a refusal has a reason");
        return 0;
    }
    const trace::TraceSummary summary = trace::summarize(*reader);
    MEMSWEEP_ASSERT(summary.totals.frees <= summary.totals.allocations, "only what was allocated is freed");
    MEMSWEEP_ASSERT(summary.totals.peak_live_blocks <= summary.totals.allocations, "live blocks were allocated");
    count_by_stack(*reader, summary.totals);
    read_to_mark(*reader, summary);
    read_snapshots(trace::read_from_memory({data, size}));
    if (summary.totals.events < max_fitted_events) {
        reader->rewind();
        const trace::PlacementOps ops = trace::placement_ops(*reader);
        for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
            static_cast<void>(trace::fit(ops, policy, {}));
        }
        simulate_pytorch(*reader);
        replay(*reader, summary.totals, trace::crc32c(data, size) % 64 == 0);
    }
    return 0;
}
