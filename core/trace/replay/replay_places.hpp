// Where a replay keeps its blocks: in slots and in cells. Each thread has one slot for each of its blocks that are live
// at the same time. Through a cell, one thread hands a block to another.
//
// Memory   all slots and cells of a program are mapped in advance; a page takes memory from its first use on. Handles
//          (lifetime::Buffer) are mapped only if the replay is on a heap, whose blocks have handles.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/lifetime/heap.hpp"
#include "core/memory/lazy_array.hpp"
#include "core/trace/replay/replay_program.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace memsweep::trace {

inline void pause_briefly() noexcept
{
#if defined(__x86_64__)
    _mm_pause();
#endif
}

// Handles of blocks. They lie in a mapping of their own, so that the measured malloc need not allocate them.
class HandleArray {
  public:
    explicit HandleArray(std::size_t count)
        : bytes_{std::max<std::size_t>(count, 1) * sizeof(lifetime::Buffer)},
          handles_{reinterpret_cast<lifetime::Buffer*>(&bytes_[0])}, count_{count}
    {
        std::uninitialized_value_construct_n(handles_, count_);
    }
    HandleArray(const HandleArray&) = delete;
    HandleArray& operator=(const HandleArray&) = delete;
    ~HandleArray() { std::destroy_n(handles_, count_); }
    [[nodiscard]] lifetime::Buffer* data() const noexcept { return handles_; }

  private:
    memory::LazyArray<std::byte> bytes_;
    lifetime::Buffer* handles_;
    std::size_t count_;
};

struct ReplayPlaces {
    explicit ReplayPlaces(const ReplayProgram& program)
        : first_slot{first_slots(program)}, slots{std::max<std::size_t>(first_slot.back(), 1)},
          cells{std::max<std::size_t>(program.header->cells, 1)}
    {
    }
    void make_handles()
    {
        if (!handles) {
            handles.emplace(slots.size());
            handles_beside.emplace(cells.size());
        }
    }

    // Returns how many bytes of memory the slots, cells and handles take when all of them are in use.
    [[nodiscard]] std::uint64_t bytes() const noexcept
    {
        const std::uint64_t handle_bytes = handles ? (slots.size() + cells.size()) * sizeof(lifetime::Buffer) : 0;
        return slots.size() * sizeof(void*) + cells.size() * sizeof(void*) + handle_bytes;
    }

    // For each thread, the offset of its slots in one array. No two threads write to the same cache line.
    static std::vector<std::uint64_t> first_slots(const ReplayProgram& program)
    {
        std::vector<std::uint64_t> first{0};
        for (const ReplayThread& thread : program.threads) {
            first.push_back(first.back() + (thread.slots + 15) / 8 * 8);
        }
        return first;
    }

    std::vector<std::uint64_t> first_slot;
    memory::LazyArray<void*> slots;
    memory::LazyArray<std::atomic<void*>> cells;
    std::optional<HandleArray> handles;         // used instead of `slots` if blocks have handles
    std::optional<HandleArray> handles_beside;  // the handles of blocks in cells
};

// Cells. In a cell, one thread leaves a block for another. A cell is empty or full.
//
// Cost     a load and a store if no thread has to wait. A system call only while a thread sleeps at this cell, or at a
//          cell that is a multiple of 64 cells away.
// Sources  futex(2). The thread that changes a cell uses no fence, and may miss a sleeper. A missed sleeper wakes by
//          itself after some 50 us.
// Threads  one thread gives, one takes.

// The content of a full cell if its block has no address, or if the block's handle is in handles_beside.
[[nodiscard]] inline void* full_cell() noexcept
{
    return reinterpret_cast<void*>(std::uintptr_t{1});  // NOLINT(performance-no-int-to-ptr): a mark, never followed
}

class ReplayWaits {
  public:
    // If `full` is true, waits until the cell is full, else until it is empty. Adds 1 to `waits` if the thread had to
    // wait. False: the replay has been stopped.
    [[nodiscard]] bool until(const std::atomic<void*>& cell, bool full, std::uint64_t& waits) noexcept
    {
        if ((cell.load(std::memory_order_acquire) != nullptr) == full) [[likely]] {
            return true;
        }
        ++waits;
        return wait(cell, full);
    }
    void changed(std::atomic<void*>& cell) noexcept
    {
        if (sleepers_at(cell).load(std::memory_order_relaxed) != 0) {
            wake(cell);
        }
    }
    void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

  private:
    [[nodiscard]] bool wait(const std::atomic<void*>& cell, bool full) noexcept;
    static void wake(std::atomic<void*>& cell) noexcept;
    [[nodiscard]] std::atomic<std::uint32_t>& sleepers_at(const std::atomic<void*>& cell) noexcept
    {
        return sleepers_[reinterpret_cast<std::uintptr_t>(&cell) / sizeof cell % sleepers_.size()];
    }

    alignas(64) std::array<std::atomic<std::uint32_t>, 64> sleepers_{};
    alignas(64) std::atomic<bool> stopped_{false};
};

}  // namespace memsweep::trace
