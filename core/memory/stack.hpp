// A resource with the adaptors that a MemorySpec and a SafetySpec ask for. From the outside in: counting, quarantine,
// failing, limiting, a pool, timing, placement or advising, the resource.
//
// Counting is outermost, so the counters hold the program's granted and refused requests, and what it gave back. It is
// left out if the spec wants no accounting. The pool's own statistics hold its idle memory. Guard pages and detection
// by unmapping need mappings of their own: they replace the resource and the pool.
//
// Every call to a driver's memory is timed. Calls to other memory are timed only if they may be system calls.
//
// Cost     a virtual call per layer; adaptors that the spec does not ask for are left out. Over malloc, a pool of size
//          classes or no memory all layers are compiled into one, so that only the first call is virtual.
// Threads  as its parts: any thread may allocate and free.
// Ownership  owns the resource and the adaptors. Borrows the counters, and the runtime that a driver's memory comes
//            from; both must outlive it.
#pragma once

#include <memory>
#include <optional>

#include "core/memory/adaptors.hpp"
#include "core/memory/alloc_free.hpp"
#include "core/memory/counters.hpp"
#include "core/memory/device_resource.hpp"
#include "core/memory/pool.hpp"
#include "core/memory/pool_maintenance.hpp"
#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

// The kind under which a device's runtime knows a driver's memory.
[[nodiscard]] device::MemoryKind driver_kind(model::ResourceKind resource);

// Makes the resource without pool, placement and adaptors. A driver's memory needs the runtime.
[[nodiscard]] std::unique_ptr<MemoryResource> make_resource(const model::MemorySpec& spec,
                                                            device::Runtime* runtime = nullptr);

// The pool that a spec asks for; nullptr: none.
[[nodiscard]] std::unique_ptr<Pool> make_pool(const model::PoolSpec& spec, MemoryResource& upstream,
                                              std::size_t page_bytes);

class ResourceStack {
  public:
    ResourceStack(const model::MemorySpec& spec, Counters& counters) : ResourceStack{spec, {}, counters} {}
    ResourceStack(const model::MemorySpec& spec, const model::SafetySpec& safety, Counters& counters,
                  device::Runtime* runtime = nullptr);

    [[nodiscard]] MemoryResource& top() noexcept { return *top_; }

    // The loop of alloc_free.hpp on the top.
    [[nodiscard]] AllocFreeTurns alloc_free(std::size_t bytes, std::uint64_t times) noexcept
    {
        return alloc_free_(*top_, bytes, times);
    }

    [[nodiscard]] const CallTimes& call_times() const noexcept { return times_; }

    // The driver's last refusal in words; empty: it has refused nothing, or the memory is not a driver's.
    [[nodiscard]] std::string driver_refusal() const;

    // Present when the spec asks for it.
    [[nodiscard]] QuarantineAdaptor* quarantine() noexcept { return quarantine_ ? &*quarantine_ : nullptr; }

    // nullptr: the spec asks for none.
    [[nodiscard]] Pool* pool() noexcept { return pool_.get(); }
    [[nodiscard]] PoolStats pool_stats() const noexcept;
    void reset_pool_counts() noexcept;

  private:
    CallTimes times_;
    std::unique_ptr<MemoryResource> resource_;
    std::optional<HugePageAdaptor> advising_;
    std::optional<PlacementAdaptor> placement_;
    std::unique_ptr<MemoryResource> timing_;
    std::unique_ptr<Pool> pool_;
    std::optional<PoolMaintenance> maintenance_;
    std::optional<LimitingAdaptor> limiting_;
    std::optional<FailingAdaptor> failing_;
    std::optional<QuarantineAdaptor> quarantine_;
    std::unique_ptr<MemoryResource> counting_;  // nullptr: nothing is counted
    MemoryResource* top_{};
    AllocFreeTurns (*alloc_free_)(MemoryResource&, std::size_t, std::uint64_t) noexcept {};  // compiled for the top
};

}  // namespace memsweep::memory
