#include "app/commands/traces.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "app/cli/console.hpp"
#include "core/base/quantity.hpp"
#include "core/trace/unseen_blocks.hpp"
#include "reporters/document/trace_charts.hpp"
#include "reporters/document/trace_summary.hpp"

namespace memsweep::app {
namespace {

base::Expected<void> written(int problem, const std::string& path)
{
    return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path));
}

}  // namespace

ExitCode note_damage(const std::string& path, const trace::Damage& damage)
{
    const std::string note = reporters::damage_text(damage);
    if (note.empty()) {
        return ExitCode::done;
    }
    print_note(path + ": " + note);
    return ExitCode::finding;
}

// Events that are known to be lost explain blocks that were not seen.
void note_unseen_blocks(const std::string& path, const trace::TraceSummary& summary)
{
    const auto lost = summary.facts.find("lost_events");
    if (lost != summary.facts.end() && lost->second != "0") {
        return;
    }
    for (const trace::ProcessSummary& process : summary.processes) {
        if (trace::has_unseen_blocks(process.heap_pages_bytes, process.peak_live_bytes, process.bytes_allocated,
                                     process.allocations)) {
            print_note(
                fmt::format("{}: this does not see the allocations of process {}: it held {} in pages of its heap, and "
                            "at most {} of blocks are recorded; it does not ask for them by malloc or new",
                            path, reporters::process_label(process), base::format_size(process.heap_pages_bytes),
                            base::format_size(process.peak_live_bytes)));
        }
    }
}

base::Expected<TraceOutput> TraceOutput::open(const std::string& path)
{
    auto target = MEMSWEEP_TRY(sys::find_output_target(path));
    TraceOutput output{path, std::move(target)};
    if (output.target_.replaceable()) {
        auto file = sys::TempFile::create_in(output.target_.directory());
        if (!file) {
            return base::fail(sys::io_error("cannot write", errno, path));
        }
        output.file_.emplace(*std::move(file));
        if (output.target_.existing) {
            static_cast<void>(output.file_->take_mode_of(*output.target_.existing));
        }
        return output;
    }
    output.stream_ = MEMSWEEP_TRY(sys::open_output(path, sys::Start::anew));
    return output;
}

trace::TakeBytes TraceOutput::taker()
{
    return [this](std::string_view bytes) {
        return written(file_ ? file_->write(bytes) : sys::write_all(stream_.get(), bytes), path_);
    };
}

base::Expected<void> TraceOutput::commit()
{
    return written(file_ ? file_->commit_as(target_.path) : 0, path_);
}

}  // namespace memsweep::app
