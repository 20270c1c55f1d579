// Copies the output of a command in the foreground to our own standard output and error, as it comes. A listener gets
// each piece first. The command sees pipes, not the terminal.
//
// Errors   os: no pipe. Once nobody reads from us any more, the command finds its pipe closed.
// Threads  one uses the object. A second one, which takes no signals, copies the output and calls the listener.
// Ownership  the command may leave processes behind: after finish() nobody reads what they print.
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

    // Call before the command is started.
    [[nodiscard]] base::Expected<void> take(sys::SpawnOptions& program, Listener listener);
    // Call once the command runs. Further calls do nothing.
    void begin();
    // Call once the command has ended. Passes on what is left.
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
    sys::UniqueFd over_;  // tells the thread that the command has ended, by end of file
    sys::UniqueFd tell_over_;
    std::optional<std::thread> thread_;
};

}  // namespace memsweep::app
