// Waits for the sign that a program has done its work, and reads its memory then.
//
// Units    bytes.
// Sources  SignWatch, every 2 ms; sys::ExitStop. If the program gives the sign and ends before the sign is seen, its
//          memory is read at its exit. The memory of one process comes from /proc/PID/smaps_rollup, that of several
//          from sys::sample_descendants and each smaps_rollup.
// Cost     one reading: some ms for each GiB of 4 KiB pages.
// Errors   `why_none` of the reading.
// Threads  one, beside that of the ExitStop.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/command/sign_watch.hpp"
#include "core/engine/repetition/moment.hpp"
#include "core/model/end_of_work.hpp"
#include "core/sys/exit_stop.hpp"

namespace memsweep::engine {

// Reads the memory of all processes that descend from the guard of `program`.
[[nodiscard]] Moment read_moment(pid_t program, pid_t guard);

class EndWatch {
  public:
    using Nanoseconds = std::chrono::nanoseconds;

    // How often to call look(), and how long a program may go on by itself after its memory was read.
    static constexpr Nanoseconds pause = std::chrono::milliseconds{2};
    static constexpr Nanoseconds grace = std::chrono::seconds{2};
    // The longest that settle() waits for the reading at an exit.
    static constexpr Nanoseconds patience = std::chrono::seconds{2};

    // `cwd`: the folder in which a relative path of the file begins.
    EndWatch(const model::EndOfWork& end, const std::string& cwd);
    EndWatch(const EndWatch&) = delete;
    EndWatch& operator=(const EndWatch&) = delete;
    ~EndWatch();

    // Call before the program is started.
    [[nodiscard]] base::Expected<void> prepare() const { return sign_.prepare(); }
    // Call before the launcher starts the program, which is this file. A set-user-id program that a shell or env(1)
    // then becomes does not get its privileges, unless we are root.
    void attach(pid_t launcher, pid_t guard, const std::string& file);
    // Call when the program runs.
    void begin(pid_t program, pid_t guard);
    // Call with what the program has printed.
    void hear(Printed by, std::string_view bytes) { sign_.hear(by, bytes); }
    // Call about every `pause`. True once, when the program has had its grace and must be asked to end.
    [[nodiscard]] bool look(Nanoseconds now);
    // When the memory was read, by the clock of look(); empty: not yet.
    [[nodiscard]] std::optional<Nanoseconds> read_at() const noexcept { return read_at_; }
    // Call when the program has ended, and before anybody asks how.
    void settle();
    // Call after settle().
    [[nodiscard]] Moment finish();

  private:
    struct AtExit;

    SignWatch sign_;
    pid_t program_{};
    pid_t guard_{};
    std::optional<Nanoseconds> due_;  // when the memory is read: the sign has come
    std::optional<Nanoseconds> read_at_;
    Moment moment_;
    unsigned threads_{1};  // most seen
    bool has_asked_{};
    std::shared_ptr<AtExit> at_exit_;
    std::unique_ptr<sys::ExitStop> exit_stop_;
    std::string why_no_exit_stop_;
    bool is_outlived_{};  // the main thread ended before the program
};

}  // namespace memsweep::engine
