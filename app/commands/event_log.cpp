#include "app/commands/event_log.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "app/cli/messages.hpp"
#include "core/sys/clock.hpp"
#include "reporters/json/events.hpp"

namespace memsweep::app {

void EventLog::Closer::operator()(std::FILE* file) const
{
    if (file != stdout && file != stderr) {
        std::fclose(file);
    }
}

base::Expected<std::unique_ptr<EventLog>> EventLog::open(const std::string& path, bool append)
{
    if (path == "-") {
        return std::unique_ptr<EventLog>{new EventLog{File{stdout}, "stdout"}};
    }
    std::FILE* file = std::fopen(path.c_str(), append ? "ae" : "we");
    if (file == nullptr) {
        return base::fail(base::os_error("cannot write events", errno, path));
    }
    return std::unique_ptr<EventLog>{new EventLog{File{file}, path}};
}

std::unique_ptr<EventLog> EventLog::on_stderr()
{
    return std::unique_ptr<EventLog>{new EventLog{File{stderr}, "stderr"}};
}

void EventLog::run_started(const model::RunReport& report, std::uint64_t planned_repetitions)
{
    run_id_ = report.run.id;
    write(reporters::run_start_event({run_id_, sys::utc_now()},
                                     {report.run.scenario_name, report.cases.size(), planned_repetitions}));
}

// The first measured worker of a case is its start; the later ones are repetition starts, so that whoever counts
// cases counts right and whoever watches processes still learns every pid.
void EventLog::repetition_started(const engine::RepetitionStart& start)
{
    if (start.warmup) {
        return;
    }
    const reporters::CaseStartEvent event{start.case_id, start.pid, start.repetition};
    const std::string now = sys::utc_now();
    const bool first = started_cases_.emplace(start.case_id).second;
    write(first ? reporters::case_start_event({run_id_, now}, event)
                : reporters::repetition_start_event({run_id_, now}, event));
}

void EventLog::repetition_ended(const engine::RepetitionStart& start, const engine::Outcome& outcome,
                                const model::RunReport& /*report*/)
{
    if (start.warmup) {
        return;
    }
    reporters::RepetitionEvent event{
        .case_id = start.case_id, .repetition = start.repetition, .pid = outcome.pid, .reason = outcome.reason};
    event.status = outcome.ending == engine::Ending::finished    ? model::Status::ok
                   : outcome.ending == engine::Ending::timed_out ? model::Status::timeout
                   : outcome.ending == engine::Ending::unmet     ? model::Status::skipped
                                                                 : model::Status::error;
    if (outcome.ending == engine::Ending::finished) {
        event.wall_time_s = static_cast<double>(outcome.record.wall_ns) * 1e-9;
    }
    write(reporters::repetition_event({run_id_, sys::utc_now()}, event));
}

void EventLog::case_ended(const model::CaseReport& ended, const model::RunReport& /*report*/)
{
    write(reporters::case_end_event({run_id_, sys::utc_now()}, {ended.id, ended.status, ended.reason}));
}

void EventLog::finish(const model::RunReport& report)
{
    for (const model::Warning& warning : report.warnings) {
        write(reporters::warning_event({run_id_, sys::utc_now()}, warning));
    }
    for (const model::AssertionResult& assertion : report.assertions) {
        write(reporters::assertion_event({run_id_, sys::utc_now()}, assertion));
    }
    write(reporters::run_end_event({run_id_, sys::utc_now()}, report.run.exit_code));
}

void EventLog::write(const std::string& line)
{
    const bool written =
        std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() && std::fflush(file_.get()) == 0;
    if (!written && !complained_) {
        complained_ = true;
        print_error(base::os_error("cannot write events", errno, name_));
    }
}

}  // namespace memsweep::app
