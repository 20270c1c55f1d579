// Watches a foreground command for the sign that its work is done (--end-when). If the program still runs 2 s later, it
// and its descendants get SIGTERM.
//
// Errors   os: the file that shall be the sign already exists and cannot be removed. If the sign is an output line,
//          PassedOutput copies the program's output, so the errors of PassedOutput are possible, too.
// Threads  one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "app/cli/command_line.hpp"
#include "app/commands/passed_output.hpp"
#include "core/base/expected.hpp"
#include "core/engine/command/sign_watch.hpp"
#include "core/model/end_of_work.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::app {

// Makes the value of --end-when, for every command that has this option.
[[nodiscard]] OptionValue end_of_work(model::EndOfWork& end);

// Returns the exit status to report. If the program ended because it was asked to end, it counts as successful.
[[nodiscard]] sys::ExitStatus judged_end(const sys::ExitStatus& ended, bool was_asked_to_end);

class WorkEnd {
  public:
    // How often to call look().
    static constexpr std::chrono::milliseconds pause{2};

    explicit WorkEnd(const model::EndOfWork& end) : sign_{end, ""} {}

    // Call before the program is started. Adds to `program` what the sign needs: a pipe for the output, or our pid in
    // the environment.
    [[nodiscard]] base::Expected<void> prepare(sys::SpawnOptions& program);
    // Call as soon as the program has been started. From then on, its output is copied.
    void begin() { output_.begin(); }
    // Call about every `pause` while the program runs. The first call after the sign was given returns true; all others
    // return false. `asked`: the process that gets SIGTERM, with its descendants, if the program goes on. If `asked` is
    // our own pid, all processes that we started get SIGTERM.
    [[nodiscard]] bool look(pid_t asked);
    // Call when the program has ended. Copies the rest of its output.
    void finish() { output_.finish(); }

    [[nodiscard]] bool was_seen() const noexcept { return seen_at_.has_value(); }
    // Says whether the sign has been given by now, even if look() has not noticed it yet.
    [[nodiscard]] bool has_come() const { return was_seen() || sign_.has_come(); }
    [[nodiscard]] std::string text() const { return model::to_text(sign_.end()); }
    [[nodiscard]] sys::ExitStatus judged(const sys::ExitStatus& ended) const { return judged_end(ended, has_asked_); }

  private:
    using Clock = std::chrono::steady_clock;

    engine::SignWatch sign_;
    PassedOutput output_;
    std::optional<Clock::time_point> seen_at_;
    bool has_asked_{};
};

}  // namespace memsweep::app
