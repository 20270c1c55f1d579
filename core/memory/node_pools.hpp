// A pool of size classes for each NUMA node, in memory of that node: a thread is served by the pool of the node that it
// runs on, and what it frees goes back to the pool that it came from.
//
// Units    bytes.
// Sources  getcpu(2); mbind(2) with MPOL_PREFERRED, so that a node that is full borrows from others instead of failing.
// Cost     beyond the node's pool: getcpu (some 10 ns through the vDSO) to take, a hash and its probes to return.
// Memory   8 bytes of address space for each of a million blocks, pages where some were used.
// Errors   out_of_memory: more blocks than that are held; no_such_node: the kernel refuses the policy.
// Threads  any.
// Ownership  borrows the upstream, whose blocks are whole pages of their own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/memory/adaptors.hpp"
#include "core/memory/class_pool.hpp"
#include "core/memory/lazy_array.hpp"
#include "core/memory/pool.hpp"

namespace memsweep::memory {

// Which part of something a block of whole pages belongs to.
class OwnerMap {
  public:
    OwnerMap() : places_{places} {}

    // False: there is no place left.
    [[nodiscard]] bool insert(const void* block, std::uint32_t owner) noexcept;
    void erase(const void* block) noexcept;

    // Of a block that is in the map, while nobody erases it.
    [[nodiscard]] std::uint32_t owner_of(const void* block) const noexcept;

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr std::size_t places = std::size_t{1} << 20U;
    static constexpr std::uint64_t owner_bits = 0xFFF;  // below a page's address
    static constexpr std::uint64_t gone = 1;            // what was erased: probes go on past it

    [[nodiscard]] static std::size_t home_of(std::uint64_t address) noexcept
    {
        constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
        return static_cast<std::size_t>((address * golden) >> 44U);
    }
    [[nodiscard]] std::size_t place_of(std::uint64_t address) const noexcept;

    std::mutex mutex_;  // of changes
    std::size_t used_{};
    LazyArray<std::atomic<std::uint64_t>> places_;
};

class NodePools final : public Pool {
  public:
    // `nodes`: those with memory, below 64; at least one.
    NodePools(const model::PoolSpec& spec, MemoryResource& upstream, const std::vector<std::uint32_t>& nodes,
              std::size_t page_bytes);

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

    std::uint64_t trim(std::uint64_t keep_bytes) noexcept override;
    [[nodiscard]] PoolStats stats() const noexcept override;
    void reset_counts() noexcept override;
    void age() noexcept override;
    std::uint64_t release_older(std::int64_t since_ns) noexcept override;

  private:
    // The upstream's memory, placed on a node and entered in the map.
    class NodeMemory final : public Adaptor<NodeMemory> {
      public:
        NodeMemory(MemoryResource& upstream, OwnerMap& owners, std::uint32_t part, std::uint32_t node,
                   std::size_t page_bytes) noexcept
            : Adaptor{upstream}, owners_{owners}, part_{part}, node_{node}, page_bytes_{page_bytes}
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
            return placed(ask(), bytes, alignment);
        }
        [[nodiscard]] Allocation placed(Allocation made, std::size_t bytes, std::size_t alignment) noexcept;

        OwnerMap& owners_;
        std::uint32_t part_;
        std::uint32_t node_;
        std::size_t page_bytes_;
    };
    struct Part {
        Part(const model::PoolSpec& spec, MemoryResource& upstream, OwnerMap& owners, std::uint32_t part,
             std::uint32_t node, std::size_t page_bytes)
            : memory{upstream, owners, part, node, page_bytes}, pool{spec, memory}
        {
        }
        NodeMemory memory;
        ClassPool pool;
    };

    [[nodiscard]] ClassPool& own_pool() noexcept;

    OwnerMap owners_;
    std::array<std::uint8_t, 64> part_of_node_{};  // nodes without memory: the first part
    std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace memsweep::memory
