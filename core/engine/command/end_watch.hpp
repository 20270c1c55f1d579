// Waits for the sign that a program's work is done, and then reads the program's memory.
//
// Units    bytes.
// Sources  SignWatch is asked every 2 ms whether the sign has come. If the program gives the sign and ends within these
//          2 ms, its memory is read at its exit, where sys::ExitStop holds it. The memory of a single process is read
//          from /proc/PID/smaps_rollup. If there are several processes, sys::with_shared_once gives their working set,
//          and their anonymous memory is the sum over the smaps_rollup of each process.
// Cost     one reading: some ms per GiB of 4 KiB pages.
// Errors   os: an old file of the sign cannot be removed. If the memory was not read, Moment::why_none says why.
// Threads  one thread uses the object; the ExitStop has a thread of its own.
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

// Reads the memory of `program` and of all other descendants of `guard`, the process that the program descends from. If
// the kernel gives no figures, the result has a working set of 0 and says why in `why_none`.
[[nodiscard]] Moment read_moment(pid_t program, pid_t guard);

class EndWatch {
  public:
    using Nanoseconds = std::chrono::nanoseconds;

    // `pause`: the time between two calls of look(). `grace`: how long a program may go on after its memory was read,
    // before it is asked to end.
    static constexpr Nanoseconds pause = std::chrono::milliseconds{2};
    static constexpr Nanoseconds grace = std::chrono::seconds{2};
    // The longest time for which settle() waits until the memory has been read at the exit.
    static constexpr Nanoseconds patience = std::chrono::seconds{2};

    // `cwd`: the folder to which a relative path of the sign file refers.
    EndWatch(const model::EndOfWork& end, const std::string& cwd);
    EndWatch(const EndWatch&) = delete;
    EndWatch& operator=(const EndWatch&) = delete;
    ~EndWatch();

    // Call before the program is started.
    [[nodiscard]] base::Expected<void> prepare() const { return sign_.prepare(); }
    // Call before the launcher starts the program. `file`: the program's file. Makes this process the program's tracer
    // (ptrace(2)). If the traced program, such as a shell or env(1), executes a set-user-id program, that program does
    // not get its privileges (except if we are root). So if `file` itself has such privileges, it is not traced, and
    // its memory cannot be read at its exit.
    void attach(pid_t launcher, pid_t guard, const std::string& file);
    // Call when the program has been started.
    void begin(pid_t program, pid_t guard);
    // Call with each piece of the program's output.
    void hear(Printed by, std::string_view bytes) { sign_.hear(by, bytes); }
    // Call about every `pause`. One call returns true: the first after `grace` is over. The program must then be asked
    // to end.
    [[nodiscard]] bool look(Nanoseconds now);
    // The time, as passed to look(), at which look() read the memory; nullopt: it has not read it.
    [[nodiscard]] std::optional<Nanoseconds> read_at() const noexcept { return read_at_; }
    // Call when the program has ended, before its exit status is used. Waits until the memory has been read at the
    // exit, at most `patience`.
    void settle();
    // Returns what was read. Call after settle().
    [[nodiscard]] Moment finish();

  private:
    struct AtExit;

    SignWatch sign_;
    pid_t program_{};
    pid_t guard_{};
    std::optional<Nanoseconds> due_;  // when to read the memory; nullopt: the sign was not seen yet
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
