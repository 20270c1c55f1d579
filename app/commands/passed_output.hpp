// Copies a foreground command's output to our own standard output and error while it is printed. A listener gets the
// bytes first. The command sees pipes, not the terminal.
//
// Errors   os: no pipe could be made. When nobody reads our standard output (or error) any more, the command's pipe for
//          it is closed as well.
// Threads  one thread uses the object. A second thread, in which all signals are blocked, copies the output and calls
//          the listener.
// Ownership  processes that the command leaves behind are not ended; after finish() nobody reads their output.
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
    // Call when the command runs. Starts the second thread. Further calls do nothing.
    void begin();
    // Call when the command has ended. Copies the remaining output.
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
    sys::UniqueFd over_;  // end of file on it tells the thread that the command has ended
    sys::UniqueFd tell_over_;
    std::optional<std::thread> thread_;
};

}  // namespace memsweep::app
