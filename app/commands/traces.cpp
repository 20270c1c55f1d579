#include "app/commands/traces.hpp"

#include <cerrno>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "app/cli/console.hpp"
#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/trace/trace_reader.hpp"
#include "core/trace/unseen_blocks.hpp"
#include "reporters/document/trace_charts.hpp"
#include "reporters/document/trace_summary.hpp"
#include "reporters/wording/trace_words.hpp"

namespace memsweep::app {
namespace {

base::Expected<void> written(int problem, const std::string& path)
{
    return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path));
}

void add_traces(const std::vector<model::Step>& steps, std::set<std::string>& paths)
{
    for (const model::Step& step : steps) {
        if (const auto* replay = std::get_if<model::ReplayStep>(&step.operation)) {
            paths.insert(replay->trace);
        } else if (const model::Nested inner = model::nested(step.operation); inner.steps != nullptr) {
            add_traces(*inner.steps, paths);
        }
    }
}

}  // namespace

std::vector<model::Warning> warnings_of_traces(const model::Plan& plan)
{
    std::set<std::string> paths;
    for (const model::Case& one : plan.cases) {
        if (one.command() == nullptr) {
            add_traces(one.steps(), paths);
        }
    }
    std::vector<model::Warning> warnings;
    for (const std::string& path : paths) {
        const auto reader = trace::TraceReader::open(path);
        for (const std::string& gap : reader ? reporters::gaps_of(reader->facts()) : std::vector<std::string>{}) {
            warnings.push_back({"trace-incomplete", fmt::format("{}: {}", base::printable(path), gap),
                                "what is replayed is smaller than the program that was recorded"});
        }
    }
    return warnings;
}

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
