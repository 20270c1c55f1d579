// Follows the stacks of threads from event to event, in a trace that says where they lie. A thread that has ended may
// leave its stack behind, because the C library may keep it for the next.
//
// Not said  the stack of a process's first thread, which the kernel calls [stack].
// Units     bytes.
// Cost      some 50 ns an event of another thread than the last.
// Memory    some 60 bytes a stack.
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

    // Ordered by the number of the thread, and for one number by the beginning.
    [[nodiscard]] const std::vector<ThreadStackState>& all() const noexcept { return stacks_; }
    // The stacks of threads that have not ended.
    [[nodiscard]] std::uint64_t alive_bytes() const noexcept { return alive_bytes_; }
    [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

  private:
    using Thread = std::pair<std::uint32_t, std::uint32_t>;  // process and thread
    void begin(std::size_t place);
    void end(std::size_t place);
    void end_process(std::uint32_t process);

    std::vector<ThreadStackState> stacks_;
    std::map<Thread, std::size_t> next_;  // the next stack of a thread that has not begun
    std::map<Thread, std::size_t> alive_;
    Thread last_;
    bool has_last_{};
    std::uint64_t alive_bytes_{};
    std::uint64_t peak_bytes_{};
};

}  // namespace memsweep::trace
