#include "app/commands/advice_replays.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/commands/end_snapshot.hpp"
#include "app/commands/growing_trace.hpp"
#include "app/commands/recording_clock.hpp"
#include "app/commands/recording_folder.hpp"
#include "app/commands/sealing.hpp"
#include "core/engine/steps/compile_steps.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/replay/replay_program.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/trace_moment.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::app {
namespace {

constexpr sys::PassingShape advised_folders{
    .before = "memsweep-advise-", .after = "", .tells_boot = false, .digits = 6};

trace::CountedTree served_of(const std::vector<trace::RecordedImage>& images)
{
    trace::CountedTree tree;
    for (const trace::RecordedImage& image : images) {
        const auto& path = image.facts.served_by;
        trace::ServedProgram served{.program = trace::program_of(image),
                                    .library = std::string{path, ::strnlen(path, sizeof path)},
                                    .is_own = image.facts.foreign_malloc != 0};
        if (std::ranges::find(tree.served, served) == tree.served.end()) {
            tree.served.push_back(std::move(served));
        }
    }
    return tree;
}

}  // namespace

AdviceReplays::AdviceReplays(std::chrono::nanoseconds rest, const sys::StopSignals& signals)
    : rest_{rest}, workers_{{.worker_command = {"/proc/self/exe", "worker"}}, clock_, signals}
{
}

base::Expected<trace::CountedTree> AdviceReplays::record(const engine::CommandExecutor& commands,
                                                         const engine::CompiledCase& compiled,
                                                         const engine::RunLimits& limits,
                                                         std::chrono::nanoseconds patience)
{
    const std::chrono::nanoseconds end = clock_.now() + patience;
    auto folder = sys::PassingFolder::make(advised_folders);
    if (!folder) {
        return base::fail(base::os_error("cannot make a folder", errno, sys::PassingFolder::parent()));
    }
    folder_.emplace(*std::move(folder));
    MEMSWEEP_TRY(check_room(folder_->path()));
    RecordingClock recording_clock{folder_->path()};
    GrowingTrace trace{unfinished_trace_in(folder_->path())};
    SealingMeanwhile sealing{folder_->path(), trace};
    const auto moment =
        commands.record(compiled, limits, folder_->path(), fmt::format("namespace={}", own_pid_namespace()));
    recording_clock.finish();
    trace::TraceProgress progress = sealing.finish();
    auto images = recorded_images(folder_->path());
    seen_ = images ? served_of(*images) : trace::CountedTree{};
    MEMSWEEP_TRY(moment);
    MEMSWEEP_TRY(images);
    const bool exits = compiled.command().end.sign == model::EndSign::exit;
    end_ticks_ = exits ? 0 : moment->ticks;
    if (images->empty()) {
        return trace::CountedTree{};
    }
    const trace::FileHeader header = trace::trace_header(*images, trace::read_clocks());
    const trace::TakeBytes take = [&, put = trace.taker()](std::string_view bytes) -> base::Expected<void> {
        MEMSWEEP_TRY(in_time(end));
        return put(bytes);
    };
    MEMSWEEP_TRY(trace::put_rest(*images, is_running, take, {{"source", "memsweep advise"}}, std::move(progress)));
    MEMSWEEP_TRY(trace.complete(header));
    std::set<std::uint32_t> processes;
    for (const trace::RecordedImage& image : *images) {
        processes.insert(trace::number_in_trace(image.facts));
    }
    processes_ = processes.size();
    return seen_;
}

base::Expected<engine::ReplayResidence> AdviceReplays::on(const model::AllocatorSpec& allocator,
                                                          std::chrono::nanoseconds patience)
{
    ++replays_;
    constexpr std::uint32_t runs_with_threads = 3;  // whose order is not that of the program
    return engine::replay_residence(
        workers_,
        {.trace = packed_, .allocator = allocator, .runs = threads_ > 1 ? runs_with_threads : 1, .timeout = patience},
        rest_);
}

base::Expected<void> AdviceReplays::in_time(std::chrono::nanoseconds end) const
{
    return clock_.now() <= end ? base::Expected<void>{}
                               : base::fail(base::ErrorCode::budget, "the recording is too long for the budget");
}

// The trace, of which nothing is read after that time.
base::Expected<trace::TraceReader> AdviceReplays::open_until(std::chrono::nanoseconds end) const
{
    const std::string path = unfinished_trace_in(folder_->path());
    const trace::ReadAt read = MEMSWEEP_TRY(trace::open_for_reading(path));
    return trace::TraceReader::open(
        [this, read, end](std::uint64_t offset, std::span<std::uint8_t> into) -> base::Expected<std::size_t> {
            MEMSWEEP_TRY(in_time(end));
            return read(offset, into);
        },
        path);
}

// How many events of the trace come before the end of its work.
base::Expected<std::uint64_t> AdviceReplays::events_of_work(std::chrono::nanoseconds end) const
{
    auto reader = MEMSWEEP_TRY(open_until(end));
    const trace::FileHeader& header = reader.header();
    if (end_ticks_ == 0 || header.ticks_per_second == 0 || end_ticks_ < header.start_ticks) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    constexpr double nanoseconds = 1e9;
    const double seconds =
        static_cast<double>(end_ticks_ - header.start_ticks) / static_cast<double>(header.ticks_per_second);
    return trace::events_before(
        reader, std::chrono::nanoseconds{static_cast<std::chrono::nanoseconds::rep>(seconds * nanoseconds)});
}

base::Expected<void> AdviceReplays::compile(std::chrono::nanoseconds patience)
{
    const std::chrono::nanoseconds end = clock_.now() + patience;
    trace::ReplayCompileOptions options;
    options.selection.most_events = MEMSWEEP_TRY(events_of_work(end));
    options.selection.is_cut = options.selection.most_events != std::numeric_limits<std::uint64_t>::max();
    if (processes_ > 1) {
        auto reader = MEMSWEEP_TRY(open_until(end));
        const trace::TraceSummary summary = trace::summarize(reader);
        const auto largest = std::ranges::max_element(summary.processes, {}, &trace::ProcessSummary::peak_live_bytes);
        if (largest != summary.processes.end()) {
            options.selection.process = largest->process;
        }
    }
    auto reader = MEMSWEEP_TRY(open_until(end));
    const auto words = MEMSWEEP_TRY(trace::compile_replay(reader, options));
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(in_time(end));
    const trace::ReplayProgram program = MEMSWEEP_TRY(trace::view(words));
    threads_ = static_cast<std::uint32_t>(program.threads.size());
    MEMSWEEP_TRY(engine::check_room_to_replay(program.header->totals));
    packed_ = MEMSWEEP_TRY(engine::packed_trace(words));
    return {};
}

}  // namespace memsweep::app
