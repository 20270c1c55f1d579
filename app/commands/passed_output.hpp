// What a command in the foreground prints, taken by a pipe, listened to, and passed on to our own standard output and
// error as it comes. The command sees pipes, not the terminal.
//
// Errors   os: no pipe. Once nobody reads from us any more, the command finds its pipe closed.
// Threads  one; another, that takes no signals, passes on and calls the listener.
// Ownership  processes that the command leaves behind have nobody who reads what they print.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>

#include "core/base/expected.hpp"
#include "core/engine/command/sign_watch.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::app {

class PassedOutput {
  public:
    using Listener = std::function<void(engine::Printed by, std::string_view bytes)>;

    PassedOutput() = default;
    PassedOutput(const PassedOutput&) = delete;
    PassedOutput& operator=(const PassedOutput&) = delete;
    ~PassedOutput();

    // Before the command is started.
    [[nodiscard]] base::Expected<void> take(sys::SpawnOptions& program, Listener listener);
    // Once the command runs; again, it does nothing.
    void begin();
    // Once it has ended: passes on what is left.
    void finish();

  private:
    struct Passed {
        sys::UniqueFd read;
        sys::UniqueFd write;
        int to{};
        engine::Printed by{};
    };

    void pass_on();
    bool pass_some(Passed& one);

    Listener listener_;
    std::array<Passed, 2> passed_;
    sys::UniqueFd over_;  // for the thread: at its end once the command has ended
    sys::UniqueFd tell_over_;
    std::optional<std::thread> thread_;
};

}  // namespace memsweep::app
