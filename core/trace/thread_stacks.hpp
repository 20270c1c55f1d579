// The stacks of threads, from event to event of a trace that says where they lie: which threads have theirs, and which
// have ended and left it, as the C library may keep it for the next.
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

    // In the order of their threads' numbers, and of a number in that of their beginning.
    [[nodiscard]] const std::vector<ThreadStackState>& all() const noexcept { return stacks_; }
    // Of threads that have not ended.
    [[nodiscard]] std::uint64_t alive_bytes() const noexcept { return alive_bytes_; }
    [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

  private:
    using Thread = std::pair<std::uint32_t, std::uint32_t>;  // process and thread
    void begin(std::size_t place);
    void end(std::size_t place);
    void end_process(std::uint32_t process);

    std::vector<ThreadStackState> stacks_;
    std::map<Thread, std::size_t> next_;  // that has not begun
    std::map<Thread, std::size_t> alive_;
    Thread last_;
    bool has_last_{};
    std::uint64_t alive_bytes_{};
    std::uint64_t peak_bytes_{};
};

}  // namespace memsweep::trace
