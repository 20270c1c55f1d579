// Tells which thread stacks are in use at each event of a trace, if the trace says where the stacks lie. A stack may
// stay mapped after its thread has ended, because the C library may keep it for the next thread.
//
// Left out  the stack of a process's first thread, which the kernel calls [stack].
// Units     bytes.
// Cost      some 50 ns for each event whose thread differs from that of the event before.
// Memory    some 60 bytes for each stack.
// Threads   one.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/trace/event.hpp"
#include "core/trace/program_notes.hpp"

namespace memsweep::trace {

enum class StackState : std::uint8_t { not_begun, alive, ended };

struct ThreadStackState {
    ThreadStack stack;
    StackState state{};
};

class ThreadStacks {
  public:
    explicit ThreadStacks(const ProgramNotes& notes);
    void add(const Event& event);

    // Returns the stacks, ordered by process, then by the thread's number, then by the time at which the thread began.
    // Several threads may have the same number, one after another.
    [[nodiscard]] const std::vector<ThreadStackState>& all() const noexcept { return stacks_; }
    // Returns the total size of all stacks whose threads have begun and not ended.
    [[nodiscard]] std::uint64_t alive_bytes() const noexcept { return alive_bytes_; }
    [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

  private:
    using Thread = std::pair<std::uint32_t, std::uint32_t>;  // process and thread
    void begin(std::size_t place);
    void end(std::size_t place);
    void end_process(std::uint32_t process);

    std::vector<ThreadStackState> stacks_;
    std::map<Thread, std::size_t> next_;   // by thread: index of its next stack that has not begun
    std::map<Thread, std::size_t> alive_;  // by thread: index of the stack that it has now
    Thread last_;
    bool has_last_{};
    std::uint64_t alive_bytes_{};
    std::uint64_t peak_bytes_{};
};

}  // namespace memsweep::trace
