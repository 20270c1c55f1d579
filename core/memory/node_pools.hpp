// A pool of size classes for each NUMA node, in memory of that node. A thread allocates from the pool of the node that
// it runs on. A freed block returns to the pool that it came from.
//
// Units    bytes.
// Sources  getcpu(2); mbind(2) with MPOL_PREFERRED, so that memory comes from other nodes if a node is full.
// Cost     in addition to the cost of a pool (class_pool.hpp): getcpu (about 10 ns through the vDSO) to allocate, a
//          hash look-up to free.
// Memory   8 MiB of address space for the map of blocks, and pages for its used part.
// Errors   out_of_memory also if the map of blocks is full (524,288 places; a removed block may keep its place);
//          no_such_node: the kernel refuses the policy.
// Threads  any.
// Ownership  borrows the upstream, each of whose blocks must be a mapping of its own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <sched.h>

#include "core/base/assert.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/class_pool.hpp"
#include "core/memory/lazy_array.hpp"
#include "core/memory/pool.hpp"

namespace memsweep::memory {

inline std::uint64_t address_of(const void* block) noexcept
{
    return reinterpret_cast<std::uintptr_t>(block);
}

// Maps a page-aligned block to the number of the pool that owns it, in a hash table.
class OwnerMap {
  public:
    OwnerMap() : places_{places} {}

    // Returns false if the map is full. Half of the places in the hash table always stay empty, so that a search is
    // short and ends.
    [[nodiscard]] bool insert(const void* block, std::uint32_t owner) noexcept
    {
        const std::uint64_t address = address_of(block);
        MEMSWEEP_ASSERT((address & owner_bits) == 0 && owner < owner_bits, "a block that is no whole page");
        const std::scoped_lock lock{mutex_};
        if (used_ >= places / 2) {
            return false;
        }
        std::size_t place = home_of(address);
        while (places_[place].load(relaxed) > gone) {
            place = (place + 1) % places;
        }
        used_ += places_[place].load(relaxed) == 0 ? 1U : 0U;  // an erased place still counts as used
        places_[place].store(address | owner, std::memory_order_release);
        return true;
    }

    void erase(const void* block) noexcept
    {
        const std::scoped_lock lock{mutex_};
        places_[place_of(address_of(block))].store(gone, relaxed);
    }

    // Returns the number of the pool that owns a block. The block must stay in the map until this function returns.
    [[nodiscard]] std::uint32_t owner_of(const void* block) const noexcept
    {
        return static_cast<std::uint32_t>(places_[place_of(address_of(block))].load(relaxed) & owner_bits);
    }

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr std::size_t places = std::size_t{1} << 20U;
    static constexpr std::uint64_t owner_bits = 0xFFF;  // the low bits of an address, which are 0 for whole pages
    static constexpr std::uint64_t gone = 1;            // marks an erased place; a search goes on past it

    [[nodiscard]] static std::size_t home_of(std::uint64_t address) noexcept
    {
        constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
        return static_cast<std::size_t>((address * golden) >> 44U);
    }
    [[nodiscard]] std::size_t place_of(std::uint64_t address) const noexcept
    {
        std::size_t place = home_of(address);
        while ((places_[place].load(std::memory_order_acquire) & ~owner_bits) != address) {
            place = (place + 1) % places;
        }
        return place;
    }

    std::mutex mutex_;  // guards insert and erase
    std::size_t used_{};
    LazyArray<std::atomic<std::uint64_t>> places_;
};

class NodePools final : public Pool {
  public:
    // `nodes`: the numbers of the nodes that have memory; at least one, each below 64.
    NodePools(const model::PoolSpec& spec, MemoryResource& upstream, const std::vector<std::uint32_t>& nodes,
              std::size_t page_bytes)
    {
        MEMSWEEP_ASSERT(!nodes.empty(), "a machine has memory");
        for (const std::uint32_t node : nodes) {
            const auto part = static_cast<std::uint32_t>(parts_.size());
            part_of_node_[node % part_of_node_.size()] = static_cast<std::uint8_t>(part);
            parts_.push_back(std::make_unique<Part>(spec, upstream, owners_, part, node, page_bytes));
        }
    }

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return own_pool().allocate(bytes, alignment);
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return own_pool().allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        parts_[owners_.owner_of(ptr)]->pool.deallocate(ptr, bytes, alignment);
    }

    // Divides `keep_bytes` equally among the pools of all nodes.
    std::uint64_t trim(std::uint64_t keep_bytes) noexcept override
    {
        std::uint64_t released = 0;
        for (const auto& part : parts_) {
            released += part->pool.trim(keep_bytes / parts_.size());
        }
        return released;
    }

    [[nodiscard]] PoolStats stats() const noexcept override
    {
        PoolStats all;
        for (const auto& part : parts_) {
            const PoolStats one = part->pool.stats();
            for (const auto field : PoolStats::sums) {
                all.*field += one.*field;
            }
            all.idle_bytes += one.idle_bytes;
            all.idle_blocks += one.idle_blocks;
            all.largest_idle_bytes = std::max(all.largest_idle_bytes, one.largest_idle_bytes);
            all.held_bytes += one.held_bytes;
            all.held_bytes_peak += one.held_bytes_peak;
        }
        return all;
    }

    void reset_counts() noexcept override
    {
        for (const auto& part : parts_) {
            part->pool.reset_counts();
        }
    }

    void age() noexcept override
    {
        for (const auto& part : parts_) {
            part->pool.age();
        }
    }

    std::uint64_t release_older(std::int64_t since_ns) noexcept override
    {
        std::uint64_t released = 0;
        for (const auto& part : parts_) {
            released += part->pool.release_older(since_ns);
        }
        return released;
    }

  private:
    // Passes on the upstream's memory and records in the map which part (the pool of a node) owns each block.
    class OwnedMemory final : public Adaptor<OwnedMemory> {
      public:
        OwnedMemory(MemoryResource& upstream, OwnerMap& owners, std::uint32_t part) noexcept
            : Adaptor{upstream}, owners_{owners}, part_{part}
        {
        }
        void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
        {
            owners_.erase(ptr);
            upstream_.deallocate(ptr, bytes, alignment);
        }

      private:
        friend Adaptor;

        template <typename Ask>
        Allocation serve(const Ask& ask, std::size_t bytes, std::size_t alignment) noexcept
        {
            const Allocation made = ask();
            if (made.status == AllocStatus::ok && !owners_.insert(made.ptr, part_)) {
                upstream_.deallocate(made.ptr, bytes, alignment);
                return {nullptr, AllocStatus::out_of_memory};
            }
            return made;
        }

        OwnerMap& owners_;
        std::uint32_t part_;
    };
    struct Part {
        Part(const model::PoolSpec& spec, MemoryResource& upstream, OwnerMap& owners, std::uint32_t part,
             std::uint32_t node, std::size_t page_bytes)
            : placement{upstream,
                        {.numa = {model::NumaPolicy::preferred, std::uint64_t{1} << node}, .page_bytes = page_bytes}},
              memory{placement, owners, part}, pool{spec, memory}
        {
        }
        PlacementAdaptor placement;
        OwnedMemory memory;
        ClassPool pool;
    };

    [[nodiscard]] ClassPool& own_pool() noexcept
    {
        unsigned int cpu = 0;
        unsigned int node = 0;
        static_cast<void>(::getcpu(&cpu, &node));
        return parts_[part_of_node_[node % part_of_node_.size()]]->pool;
    }

    OwnerMap owners_;
    std::array<std::uint8_t, 64> part_of_node_{};  // index into parts_, by node; 0 for nodes without memory
    std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace memsweep::memory
