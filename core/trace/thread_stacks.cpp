#include "core/trace/thread_stacks.hpp"

#include <algorithm>
#include <tuple>

#include "core/base/checked.hpp"

namespace memsweep::trace {

ThreadStacks::ThreadStacks(const ProgramNotes& notes)
{
    for (const ThreadStack& stack : notes.thread_stacks()) {
        stacks_.push_back({stack});
    }
    std::ranges::stable_sort(stacks_, {}, [](const ThreadStackState& one) {
        return std::tuple{one.stack.process, one.stack.thread, one.stack.first_ticks};
    });
    for (std::size_t place = stacks_.size(); place-- > 0;) {
        next_[{stacks_[place].stack.process, stacks_[place].stack.thread}] = place;
    }
}

void ThreadStacks::begin(std::size_t place)
{
    stacks_[place].state = StackState::alive;
    alive_bytes_ = base::saturating_add(alive_bytes_, stacks_[place].stack.bytes);
    peak_bytes_ = std::max(peak_bytes_, alive_bytes_);
}

void ThreadStacks::end(std::size_t place)
{
    stacks_[place].state = StackState::ended;
    alive_bytes_ -= std::min(alive_bytes_, stacks_[place].stack.bytes);
}

void ThreadStacks::end_process(std::uint32_t process)
{
    for (auto at = alive_.lower_bound({process, 0}); at != alive_.end() && at->first.first == process;) {
        end(at->second);
        at = alive_.erase(at);
    }
}

// A number may be another thread's later: the next stack under it begins with the first event that is not before it.
void ThreadStacks::add(const Event& event)
{
    const Thread thread{event.process, event.thread};
    const bool is_known = has_last_ && thread == last_ && event.kind != EventKind::thread_start;
    last_ = thread;
    has_last_ = true;
    if (!is_known && !next_.empty()) {
        const auto next = next_.find(thread);
        if (next != next_.end() && stacks_[next->second].stack.first_ticks <= event.ticks) {
            if (const auto before = alive_.find(thread); before != alive_.end()) {
                end(before->second);
            }
            begin(next->second);
            alive_[thread] = next->second;
            const std::size_t following = next->second + 1;
            const bool is_same = following < stacks_.size() && stacks_[following].stack.process == event.process &&
                                 stacks_[following].stack.thread == event.thread;
            if (is_same) {
                next->second = following;
            } else {
                next_.erase(next);
            }
        }
    }
    if (event.kind == EventKind::thread_exit) {
        if (const auto found = alive_.find(thread); found != alive_.end()) {
            end(found->second);
            alive_.erase(found);
        }
    } else if (event.kind == EventKind::process_exit || event.kind == EventKind::exec) {
        end_process(event.process);
    }
}

}  // namespace memsweep::trace
