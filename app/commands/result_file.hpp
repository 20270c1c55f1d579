// Keeps the result on disk while a run goes on, so that a kill at any moment loses nothing that was measured.
//
// The file is rewritten by temporary file and rename after every case, and after repetitions as long as writing stays
// below a fifth of the time. An earlier result of that name is replaced only when the first case of this run has
// ended; until then the new one grows beside it as FILE.partial.
//
// Errors   a write that fails is reported once and tried again at the next occasion; finish() tells whether the last
//          one succeeded, and saves to the temporary directory when it did not.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/engine/executor.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::app {

class ResultFile final : public engine::Observer {
  public:
    ResultFile(std::string path, const sys::Clock& clock);

    void repetition_ended(const engine::RepetitionStart& start, const engine::Outcome& outcome,
                          const model::RunReport& report) override;
    void case_ended(const model::CaseReport& ended, const model::RunReport& report) override;

    // The last write, which replaces an earlier result unless this run was interrupted before its first case had ended.
    // Returns where the result now is; empty when it could not be saved where it was asked for.
    [[nodiscard]] std::optional<std::string> finish(const model::RunReport& report);

    [[nodiscard]] static std::string partial_path(const std::string& path) { return path + ".partial"; }

  private:
    [[nodiscard]] bool save(const model::RunReport& report);

    std::string path_;
    const sys::Clock& clock_;
    bool stream_{};            // a pipe or a device: one document, written at the end
    bool replaces_earlier_{};  // an earlier result still lies at path_
    bool partial_written_{};
    bool complained_{};
    std::chrono::nanoseconds last_write_{};
    std::chrono::nanoseconds write_cost_{};
};

}  // namespace memsweep::app
