// The observers that the command line requests for a run: the result file, the event streams, progress.
//
// The result is kept on disk during the run, so a kill at any moment loses no measurement. After every measured case
// the result FILE is rewritten, through a temporary file and a rename. After a repetition, FILE is rewritten only if
// the time since the last write is at least 50 times what that write took. Otherwise the repetition is appended to
// FILE.journal, which `run --resume` reads. If FILE already exists, this run replaces it when its first measured case
// has ended; until then the new result is FILE.partial.
//
// Events are lines of JSON (NDJSON). Each is written immediately.
//
// Errors   a failed write is reported a single time, and the run goes on. If the last write of the result fails,
//          finish() saves the result in the temporary directory. events_failed() tells whether events are missing.
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

// What progress prints about a run before anything is measured.
struct Announcement {
    std::string time;   // "about 52 s"; empty: not known
    bool until_sure{};  // the repetitions end early, when the verdict is sure
};

// Passes each event to the result file first, then to the event streams, and last to progress.
class RunObservers final : public engine::Observer {
  public:
    // `names_itself`: the user gave no path for the result. In this case an existing file is kept, and the result gets
    // the next free name (NAME-2.json). `events`: a file, "-" for stdout, or empty for none. `append_events`: append to
    // the event file, because an earlier scenario of the same command has already written to it.
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

    // Call this when the exit code is known. Writes the result for the last time, then the last events. The result
    // replaces an existing FILE, except if this run was interrupted before its first measured case had ended. Returns
    // the path of the result, or nullopt if it could not be saved to the requested path.
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
