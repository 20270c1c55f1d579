// Released blocks that wait: pushed by whoever drops a last handle, taken all at once.
//
// Cost     push: one compare-and-swap; take_all: one exchange and a walk to put them in order.
// Memory   none: blocks are linked through themselves.
// Threads  any number may push and take; taking everything at once leaves no ABA problem.
#pragma once

#include <atomic>

#include "core/lifetime/block.hpp"

namespace memsweep::lifetime {

class PendingList {
  public:
    void push(Block& block) noexcept
    {
        Block* head = head_.load(std::memory_order_relaxed);
        do {
            block.next = head;
        } while (!head_.compare_exchange_weak(head, &block, std::memory_order_release, std::memory_order_relaxed));
    }

    // A chain linked by `next`, first pushed first, as take_all gives it.
    void push_all(Block* oldest) noexcept
    {
        while (oldest != nullptr) {
            Block* const next = oldest->next;
            push(*oldest);
            oldest = next;
        }
    }

    // First pushed first, linked by `next`; nullptr when there is none.
    [[nodiscard]] Block* take_all() noexcept
    {
        Block* newest = head_.exchange(nullptr, std::memory_order_acquire);
        Block* oldest = nullptr;
        while (newest != nullptr) {
            Block* const older = newest->next;
            newest->next = oldest;
            oldest = newest;
            newest = older;
        }
        return oldest;
    }

  private:
    std::atomic<Block*> head_{nullptr};
};

}  // namespace memsweep::lifetime
