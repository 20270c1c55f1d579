// The observers of a run that the command line asks for: the result file, the event streams, progress.
//
// The result is on disk while the run goes on, so a kill at any moment loses no measurement. Its file is rewritten by
// temporary file and rename after every case. It is also rewritten after repetitions, as long as writing stays below a
// fiftieth of the time; the other repetitions are added to FILE.journal, from which `run --resume` takes them. An
// earlier result of that name is replaced only when the first case of this run has ended; until then the new one grows
// beside it as FILE.partial.
//
// Events are lines of JSON (NDJSON), each written at once.
//
// Errors   a write that fails is reported once, and the run goes on. finish() tells whether the last write of the
//          result succeeded; if not, it saves the result to the temporary directory. events_failed() tells whether
//          events are missing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/console.hpp"
#include "core/base/expected.hpp"
#include "core/engine/observer.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::app {

// The announcement of a run, which progress prints before anything is measured.
struct Announcement {
    std::string time;   // "about 52 s"; empty: nothing is known
    bool until_sure{};  // a verdict that is sure earlier ends the repetitions
};

// Passes every event on: to the result file first, to progress last.
class RunObservers final : public engine::Observer {
  public:
    // `names_itself`: the user named no result path, so an existing file stays and the result goes beside it
    // (NAME-2.json). `events`: a file, "-" for stdout, or empty. `append_events`: an earlier scenario of the same
    // command has begun that file.
    //
    // Errors   the event file cannot be written.
    [[nodiscard]] static base::Expected<std::unique_ptr<RunObservers>>
    make(const std::string& result_path, bool names_itself, const std::string& events, bool append_events,
         const Announcement& announcement, const GlobalOptions& global, const sys::Clock& clock);
    RunObservers(const RunObservers&) = delete;
    RunObservers& operator=(const RunObservers&) = delete;
    ~RunObservers() override;

    void run_started(const model::RunReport& report, const engine::PlannedRuns& planned) override;
    void repetition_started(const engine::RepetitionStart& start) override;
    void repetition_ended(const engine::RepetitionStart& start, const engine::Attempt& attempt,
                          const model::RunReport& report) override;
    void repetition_discarded(const engine::RepetitionDiscard& discard) override;
    void case_ended(const model::CaseReport& ended, const model::RunReport& report) override;
    void run_ended(const model::RunReport& report) override;

    // Writes the result for the last time, then the last events, once the exit code is known. The result replaces an
    // earlier one, unless this run was interrupted before its first case had ended. Returns the path of the result;
    // empty if it could not be saved to the requested path.
    [[nodiscard]] std::optional<std::string> finish(const model::RunReport& report);
    [[nodiscard]] bool events_failed() const;

    [[nodiscard]] static std::string partial_path(const std::string& path) { return path + ".partial"; }

  private:
    class ResultFile;
    class EventLog;
    RunObservers();

    std::unique_ptr<ResultFile> result_;
    std::vector<std::unique_ptr<EventLog>> logs_;
    std::unique_ptr<engine::Observer> progress_;
    std::vector<engine::Observer*> all_;
};

}  // namespace memsweep::app
