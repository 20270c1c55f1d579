// Writes every event of a run as a line of JSON, at once (NDJSON), for --events and --progress json.
//
// Errors   a write that fails is reported once; the run goes on.
#pragma once

#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "core/base/expected.hpp"
#include "core/engine/executor.hpp"

namespace memsweep::app {

class EventLog final : public engine::Observer {
  public:
    // Path "-" is stdout; `append` when an earlier scenario of the same command has written to it.
    [[nodiscard]] static base::Expected<std::unique_ptr<EventLog>> open(const std::string& path, bool append);
    [[nodiscard]] static std::unique_ptr<EventLog> on_stderr();

    void run_started(const model::RunReport& report, std::uint64_t planned_repetitions) override;
    void repetition_started(const engine::RepetitionStart& start) override;
    void repetition_ended(const engine::RepetitionStart& start, const engine::Outcome& outcome,
                          const model::RunReport& report) override;
    void case_ended(const model::CaseReport& ended, const model::RunReport& report) override;

    // Warnings, assertions and the end, once the exit code is known.
    void finish(const model::RunReport& report);

  private:
    struct Closer {
        void operator()(std::FILE* file) const;
    };
    using File = std::unique_ptr<std::FILE, Closer>;

    EventLog(File file, std::string name) : file_{std::move(file)}, name_{std::move(name)} {}
    void write(const std::string& line);

    File file_;
    std::string name_;
    std::string run_id_;
    std::set<std::string, std::less<>> started_cases_;
    bool complained_{};
};

}  // namespace memsweep::app
