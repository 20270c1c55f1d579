#include "app/run_observers.hpp"

#include <utility>

#include "app/progress.hpp"

namespace memsweep::app {

base::Expected<std::unique_ptr<RunObservers>> RunObservers::make(const RunCommand& command, const GlobalOptions& global,
                                                                 const std::string& result_path, bool append_events,
                                                                 const sys::Clock& clock)
{
    std::unique_ptr<RunObservers> observers{new RunObservers{result_path, clock}};
    if (!command.events.empty()) {
        auto log = EventLog::open(command.events, append_events);
        if (!log) {
            return base::fail(log.error());
        }
        observers->add_log(*std::move(log));
    }
    if (global.progress == ProgressMode::json) {
        observers->add_log(EventLog::on_stderr());
    }
    if (!global.quiet) {
        observers->progress_ = make_progress(global.progress, clock);
    }
    if (observers->progress_) {
        observers->fan_out_.add(*observers->progress_);
    }
    return observers;
}

void RunObservers::add_log(std::unique_ptr<EventLog> log)
{
    fan_out_.add(*log);
    logs_.push_back(std::move(log));
}

std::optional<std::string> RunObservers::finish(const model::RunReport& report)
{
    std::optional<std::string> saved = result_.finish(report);
    for (const auto& log : logs_) {
        log->finish(report);
    }
    return saved;
}

}  // namespace memsweep::app
