// Waits for the sign that a program's work is done, and then reads the program's memory.
//
// Units    bytes.
// Sources  SignWatch, every 2 ms; sys::ExitStop. If the program gives the sign and ends before we notice the sign, its
//          memory is read while sys::ExitStop holds it at its exit. The memory of one process comes from
//          /proc/PID/smaps_rollup. The working set of several comes from sys::sample_descendants, their anonymous
//          memory from smaps_rollup of each.
// Cost     one reading: some ms per GiB of 4 KiB pages.
// Errors   in Moment::why_none.
// Threads  one uses the object; another belongs to the ExitStop.
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

// Reads the memory of `program` and of all other descendants of `guard`, the process that the program descends from.
[[nodiscard]] Moment read_moment(pid_t program, pid_t guard);

class EndWatch {
  public:
    using Nanoseconds = std::chrono::nanoseconds;

    // pause: how often to call look(). grace: how long a program may go on after its memory was read.
    static constexpr Nanoseconds pause = std::chrono::milliseconds{2};
    static constexpr Nanoseconds grace = std::chrono::seconds{2};
    // The longest time for which settle() waits for a reading at the exit.
    static constexpr Nanoseconds patience = std::chrono::seconds{2};

    // `cwd`: the folder to which a relative path of the sign file refers.
    EndWatch(const model::EndOfWork& end, const std::string& cwd);
    EndWatch(const EndWatch&) = delete;
    EndWatch& operator=(const EndWatch&) = delete;
    ~EndWatch();

    // Call before the program is started.
    [[nodiscard]] base::Expected<void> prepare() const { return sign_.prepare(); }
    // Call before the launcher starts the program. `file`: the program's file. Makes us the program's tracer
    // (ptrace(2)). So if a shell or env(1) then executes a set-user-id program, that program does not get its
    // privileges (except if we are root).
    void attach(pid_t launcher, pid_t guard, const std::string& file);
    // Call once the program runs.
    void begin(pid_t program, pid_t guard);
    // Call with each piece of the program's output.
    void hear(Printed by, std::string_view bytes) { sign_.hear(by, bytes); }
    // Call about every `pause`. Returns true once, when `grace` is over and the program must be asked to end.
    [[nodiscard]] bool look(Nanoseconds now);
    // When the memory was read, by the clock of look(); nullopt: not yet.
    [[nodiscard]] std::optional<Nanoseconds> read_at() const noexcept { return read_at_; }
    // Call when the program has ended, before its exit status is used.
    void settle();
    // Returns what was read. Call after settle().
    [[nodiscard]] Moment finish();

  private:
    struct AtExit;

    SignWatch sign_;
    pid_t program_{};
    pid_t guard_{};
    std::optional<Nanoseconds> due_;  // when to read the memory; set once the sign was given
    std::optional<Nanoseconds> read_at_;
    Moment moment_;
    unsigned threads_{1};  // the highest number of threads seen
    bool has_asked_{};
    std::shared_ptr<AtExit> at_exit_;
    std::unique_ptr<sys::ExitStop> exit_stop_;
    std::string why_no_exit_stop_;
    bool is_outlived_{};  // the program's main thread ended before the program did
};

}  // namespace memsweep::engine
