// The last tier of a pool: what lies idle for everybody, with its age, bounded in all and per class. When it is full,
// and when it is to shrink, its eviction rule says what goes.
//
// Units    bytes; nanoseconds of the steady clock.
// Cost     one lock; an eviction looks at every class. 48 bytes per idle block, in a mapping of its own.
// Memory   at most 262,144 blocks lie here; blocks themselves are not touched.
// Threads  any.
// Ownership  what is kept is the pool's to free; blocks that have to go are handed to the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/memory/lazy_array.hpp"
#include "core/model/pool_spec.hpp"

namespace memsweep::memory {

class SizeClasses;

struct IdleBlock {
    void* ptr{};
    std::uint32_t index{};  // of its class
};

class IdleStore {
  public:
    static constexpr std::uint32_t max_blocks = 1U << 18U;

    IdleStore(const SizeClasses& classes, const model::PoolSpec& spec);

    // The newest block of the class; nullptr: there is none.
    [[nodiscard]] void* take(std::uint32_t index, std::int64_t now_ns) noexcept;

    // Keeps the block if it may. nullopt: it is kept and nothing has to go. Otherwise something has to, this block or
    // another; unless it was this one, call again.
    enum class Put : std::uint8_t { kept, evicted, refused };
    [[nodiscard]] Put put(IdleBlock block, std::int64_t now_ns, IdleBlock& victim) noexcept;

    // One block that the rule gives up, while more than `keep_bytes` lie here.
    [[nodiscard]] std::optional<IdleBlock> take_beyond(std::uint64_t keep_bytes) noexcept;

    // One block that came before `since_ns`.
    [[nodiscard]] std::optional<IdleBlock> take_older(std::int64_t since_ns) noexcept;

    // A hit of the class elsewhere in the pool, for the rules that go by use.
    void note_hits(std::uint32_t index, std::uint64_t hits, std::int64_t now_ns) noexcept;

    [[nodiscard]] std::uint64_t bytes() const noexcept;
    [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept;

  private:
    // Numbers of nodes are 1 + their place; 0 is none.
    using Link = std::uint32_t;
    struct Node {
        void* ptr{};
        std::int64_t since_ns{};
        std::uint32_t index{};
        Link newer{}, older{};  // in its class
        Link newer_of_all{}, older_of_all{};
    };
    struct Shelf {
        Link newest{}, oldest{};
        std::uint32_t count{};
        std::uint64_t hits{};
        std::int64_t used_ns{};
    };

    [[nodiscard]] Node& at(Link link) noexcept { return nodes_[link - 1]; }
    [[nodiscard]] Link new_node() noexcept;
    void insert(IdleBlock block, std::int64_t now_ns) noexcept;
    [[nodiscard]] IdleBlock remove(Link link) noexcept;
    [[nodiscard]] bool fits(std::uint32_t index) const noexcept;
    [[nodiscard]] Link victim_of(model::Eviction rule) const noexcept;
    template <typename Better>
    [[nodiscard]] Link oldest_of(const Better& better) const noexcept;

    const SizeClasses& classes_;
    const model::PoolSpec spec_;
    mutable std::mutex mutex_;  // guards everything below
    std::vector<Shelf> shelves_;
    LazyArray<Node> nodes_;
    Link unused_{};         // nodes given back, linked by `older`
    std::uint32_t used_{};  // nodes ever used
    Link newest_{}, oldest_{};
    std::uint64_t bytes_{};
};

}  // namespace memsweep::memory
