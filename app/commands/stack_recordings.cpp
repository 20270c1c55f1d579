#include "app/commands/stack_recordings.hpp"

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "app/commands/recording_clock.hpp"
#include "app/commands/recording_folder.hpp"
#include "app/commands/traces.hpp"
#include "core/engine/command/supervision.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/left_behind.hpp"
#include "core/trace/file_lender.hpp"
#include "core/trace/unrecorded.hpp"

namespace memsweep::app {
namespace {

// Always as long: a program that copies its environment allocates by the length of this path.
constexpr sys::PassingShape stack_folders{.before = "memsweep-stacks-", .after = "", .tells_boot = false, .digits = 6};

base::Expected<void> put_together(LeftRecordings& left, const std::string& path)
{
    if (!left.unrecorded.empty()) {
        return base::fail(base::ErrorCode::not_supported,
                          "without the recorder ran " + trace::describe(left.unrecorded));
    }
    if (left.refused != 0 || !left.not_read.empty() || left.images.empty()) {
        return base::fail(base::ErrorCode::not_supported, "no process of it could be recorded");
    }
    auto output = MEMSWEEP_TRY(TraceOutput::open(path));
    const auto summary = MEMSWEEP_TRY(trace::assemble(std::move(left.images), trace::read_clocks(), is_running,
                                                      output.taker(), {{"source", "memsweep run"}}));
    if (summary.lost_events != 0 || summary.lost_stacks != 0 || summary.stopped_errno != 0 ||
        summary.damaged_chunks != 0) {
        return base::fail(base::ErrorCode::io, "some of its events could not be recorded", path);
    }
    return output.commit();
}

}  // namespace

StackRecordings::StackRecordings(std::string library, const sys::StopSignals& signals)
    : library_{std::move(library)}, signals_{signals}
{
}

base::Expected<void> StackRecordings::run(const RecordedProgram& program, const Read& read) const
{
    const model::CommandSpec& command = program.command;
    MEMSWEEP_TRY(sys::can_be_preloaded(engine::executed(command.run, command.shell)));
    const auto folder = sys::PassingFolder::make(stack_folders);
    if (!folder) {
        return base::fail(base::os_error("cannot make a folder", errno, sys::PassingFolder::parent()));
    }
    trace::make_starts(folder->path());
    trace::FileLender lender{folder->path()};
    RecordingClock recording_clock{folder->path()};
    trace::TreeLooks looks{library_};
    engine::Supervision supervision{clock_, signals_, program.timeout};
    supervision.record_with(library_, folder->path(), fmt::format("namespace={},stacks", own_pid_namespace()), looks);
    engine::ProgramEnd end =
        supervision.run(command, command.run, program.allocator, program.output, {}, nullptr, [](int /*pid*/) {});
    lender.finish();
    recording_clock.finish();
    const std::string why = engine::judge(end, command, program.timeout);
    if (end.ending != engine::Ending::finished) {
        return base::fail(base::ErrorCode::os, why, program.name);
    }
    LeftRecordings left = MEMSWEEP_TRY(recordings_in(folder->path(), looks));
    const std::string path = folder->path() + "/run.mst";
    MEMSWEEP_TRY(put_together(left, path));
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(path));
    return read(reader, path);
}

}  // namespace memsweep::app
