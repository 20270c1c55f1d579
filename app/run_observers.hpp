// Everyone who listens to a run, as the command line asks: the result file, the event streams, progress.
#pragma once

#include <memory>
#include <string>

#include "app/event_log.hpp"
#include "app/fan_out.hpp"
#include "app/options.hpp"
#include "app/result_file.hpp"

namespace memsweep::app {

class RunObservers {
  public:
    // `append_events`: an earlier scenario of the same command has begun the event file.
    // Errors   the event file cannot be written.
    [[nodiscard]] static base::Expected<std::unique_ptr<RunObservers>>
    make(const RunCommand& command, const GlobalOptions& global, const std::string& result_path, bool append_events,
         const sys::Clock& clock);

    [[nodiscard]] engine::Observer& all() { return fan_out_; }

    // The last write of the result, then the last event. Returns where the result is, as ResultFile::finish.
    [[nodiscard]] std::optional<std::string> finish(const model::RunReport& report);

  private:
    RunObservers(const std::string& result_path, const sys::Clock& clock) : result_{result_path, clock}
    {
        fan_out_.add(result_);
    }
    void add_log(std::unique_ptr<EventLog> log);

    ResultFile result_;
    std::vector<std::unique_ptr<EventLog>> logs_;
    std::unique_ptr<engine::Observer> progress_;
    FanOut fan_out_;
};

}  // namespace memsweep::app
