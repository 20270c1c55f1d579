// Waits, beside a command in the foreground, for the sign that its work is done (--end-when). A program that goes on is
// asked to end 2 s later, by SIGTERM, and so is what it has started.
//
// Errors   os: a file that is to be the sign is there and cannot be removed; those of PassedOutput, by which the
//          program prints if the sign is a line.
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

// The value of --end-when, for every command that has it.
[[nodiscard]] OptionValue end_of_work(model::EndOfWork& end);

// How a program ended. One that was asked to end, and has obeyed, counts as successful.
[[nodiscard]] sys::ExitStatus judged_end(const sys::ExitStatus& ended, bool was_asked_to_end);

class WorkEnd {
  public:
    // How often look() is wanted.
    static constexpr std::chrono::milliseconds pause{2};

    explicit WorkEnd(const model::EndOfWork& end) : sign_{end, ""} {}

    // Before the program is started: gives it what it needs to give the sign.
    [[nodiscard]] base::Expected<void> prepare(sys::SpawnOptions& program);
    // Once the command runs: from here on its output is passed on.
    void begin() { output_.begin(); }
    // Call it about every `pause` once the program runs. True once: the sign has come. `asked`: the process that is
    // asked to end with its descendants, if it goes on; our own: all that we have started.
    [[nodiscard]] bool look(pid_t asked);
    // Once the program has ended: passes on what is left of its output.
    void finish() { output_.finish(); }

    [[nodiscard]] bool was_seen() const noexcept { return seen_at_.has_value(); }
    // Whether the sign has come by now, whether look() saw it or not.
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
