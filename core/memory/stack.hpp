// A resource with the pool and the adaptors that a MemorySpec and a SafetySpec ask for. From the outermost layer to the
// innermost: counting, quarantine, failing, limiting, the pool, timing, placement, huge-page advice, the resource.
//
// Counting is outermost, so the counters count what the program requests and frees. Counting is left out if accounting
// is off. Memory that is idle in the pool appears only in the pool's own statistics. Guard pages and detection by
// unmapping need a FencedResource, which replaces the resource and the pool.
//
// Every call to an accelerator driver is timed. Calls to other memory are timed only if they may be system calls.
//
// Cost     a virtual call per layer. Layers that the specs do not ask for are left out. If the layer directly below
//          counting is timed malloc, a ClassPool or a NullResource, counting and this layer are compiled together, so
//          that only the call of counting is virtual.
// Threads  as the resource and the layers above it.
// Ownership  owns the resource, the pool and the adaptors. Borrows the counters, and the runtime of a driver's memory;
//          both must outlive the stack.
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

// Returns the MemoryKind of a resource that is a driver's memory.
[[nodiscard]] device::MemoryKind driver_kind(model::ResourceKind resource);

// Makes the resource alone, without pool and adaptors. `runtime` is required for a driver's memory.
[[nodiscard]] std::unique_ptr<MemoryResource> make_resource(const model::MemorySpec& spec,
                                                            device::Runtime* runtime = nullptr);

// Makes the pool that a spec asks for; nullptr if it asks for none. `page_bytes`: page size of the upstream's mappings.
[[nodiscard]] std::unique_ptr<Pool> make_pool(const model::PoolSpec& spec, MemoryResource& upstream,
                                              std::size_t page_bytes);

class ResourceStack {
  public:
    ResourceStack(const model::MemorySpec& spec, Counters& counters) : ResourceStack{spec, {}, counters} {}
    ResourceStack(const model::MemorySpec& spec, const model::SafetySpec& safety, Counters& counters,
                  device::Runtime* runtime = nullptr);

    [[nodiscard]] MemoryResource& top() noexcept { return *top_; }

    // Runs the loop of alloc_free.hpp on top().
    [[nodiscard]] AllocFreeTurns alloc_free(std::size_t bytes, std::uint64_t times) noexcept
    {
        return alloc_free_(*top_, bytes, times);
    }

    [[nodiscard]] const CallTimes& call_times() const noexcept { return times_; }

    // Returns the driver's last refusal in words. The text is empty if the driver has refused nothing, or if the memory
    // is not a driver's.
    [[nodiscard]] std::string driver_refusal() const;

    // Returns nullptr if the spec asks for no quarantine.
    [[nodiscard]] QuarantineAdaptor* quarantine() noexcept { return quarantine_ ? &*quarantine_ : nullptr; }

    // Returns nullptr if the spec asks for no pool.
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
    AllocFreeTurns (*alloc_free_)(MemoryResource&, std::size_t, std::uint64_t) noexcept {};  // for the type of *top_
};

}  // namespace memsweep::memory
