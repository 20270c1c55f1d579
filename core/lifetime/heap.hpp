// Makes buffers from a memory resource and hands their release to the discipline that a ReleaseSpec asks for.
//
// Units    bytes; alignment is a power of two.
// Cost     beyond the resource and the discipline: a control block from the slab and one atomic addition. No lock
//          and no malloc, once enough blocks are reserved.
// Errors   AllocStatus, never an exception; a refusal leaves nothing acquired.
// Threads  any thread may allocate, drop, collect and drain.
// Ownership  borrows the resource. Destruction frees what the discipline still holds (leak: never); a buffer that
//          outlives its heap is a bug and stops the process.
#pragma once

#include <memory>

#include "core/lifetime/buffer.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/lifetime/reclaimer.hpp"
#include "core/lifetime/slab.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::lifetime {

class Heap {
  public:
    Heap(memory::MemoryResource& resource, const model::ReleaseSpec& release);
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    ~Heap();

    struct Result {
        Buffer buffer;
        memory::AllocStatus status{memory::AllocStatus::ok};
    };
    [[nodiscard]] Result allocate(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept;

    // Control blocks for this many more buffers, so that making them maps nothing.
    void reserve(std::size_t blocks) noexcept;

    void collect() noexcept { discipline_->collect(); }
    void drain() noexcept { discipline_->drain(); }
    [[nodiscard]] DisciplineStats stats() const noexcept { return discipline_->stats(); }
    void reset_peaks() noexcept { discipline_->reset_peaks(); }
    [[nodiscard]] std::uint64_t stray_releases() const noexcept { return discipline_->stray_releases(); }

  private:
    memory::MemoryResource& resource_;
    BlockSlab slab_;
    Reclaimer reclaimer_;
    std::unique_ptr<Discipline> discipline_;
};

}  // namespace memsweep::lifetime
