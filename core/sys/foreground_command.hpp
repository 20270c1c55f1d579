// A command that runs as if its user had started it alone: in our process group and on our terminal.
//
// Sources  posix_spawnp(3); signalfd(2); pidfd_open (Linux 5.3); wait4.
// Errors   os: it cannot be started (`where` is the command).
// Threads  from the main thread, before others: SIGINT, SIGTERM, SIGHUP and SIGQUIT stay blocked while it runs.
// Ownership  the command outlives us when we are killed.
//
// What the terminal sends (Ctrl-C) reaches the command by itself; what somebody sends to us alone is passed on. We end
// when the command does.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <csignal>
#include <sys/types.h>

#include "core/base/expected.hpp"
#include "core/sys/exit_status.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

class ForegroundCommand {
  public:
    // `environment` is added to ours, or replaces it by name.
    [[nodiscard]] static base::Expected<ForegroundCommand>
    start(const std::vector<std::string>& argv, const std::vector<std::pair<std::string, std::string>>& environment);

    ForegroundCommand(const ForegroundCommand&) = delete;
    ForegroundCommand& operator=(const ForegroundCommand&) = delete;
    ForegroundCommand(ForegroundCommand&& other) noexcept;
    ForegroundCommand& operator=(ForegroundCommand&&) = delete;
    ~ForegroundCommand();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    // Until the command has ended; calls `each` about every `interval` meanwhile, when there is one.
    [[nodiscard]] ExitStatus wait(std::chrono::nanoseconds interval = {}, const std::function<void()>& each = {});

  private:
    ForegroundCommand() noexcept;
    void pass_on_signals() const;

    pid_t pid_{};
    sigset_t mask_before_{};
    bool masks_{};
    UniqueFd signals_;
    UniqueFd pidfd_;
};

// As a shell says it: the exit code, or 128 and the signal.
[[nodiscard]] int shell_status(const ExitStatus& status) noexcept;

}  // namespace memsweep::sys
