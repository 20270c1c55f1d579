// The blocks that are live at one point of a trace, found by process, space and address, and the walk that keeps them.
//
// Cost     some 10 to 40 ns an operation, by how much of the table lies in cache.
// Memory   32 bytes a block, at most three quarters full; the walk 4 more.
// Threads  one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/event.hpp"

namespace memsweep::trace {

struct BlockKey {
    std::uint64_t address{};
    std::uint32_t process{};
    std::uint32_t space{};
    friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

[[nodiscard]] inline BlockKey key_of(const Event& event, std::uint64_t address)
{
    return {address, event.process, event.space};
}

struct LiveBlock {
    std::uint64_t size{};
    std::uint32_t tag{};  // the user's: a slot, an index
};

class LiveBlocks {
  public:
    LiveBlocks() : entries_(64) {}

    // The block that was there under this key, if one was: two live blocks cannot share a place.
    std::optional<LiveBlock> insert(const BlockKey& key, const LiveBlock& block);
    std::optional<LiveBlock> remove(const BlockKey& key);
    [[nodiscard]] const LiveBlock* find(const BlockKey& key) const;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    // Removes all blocks of a process; calls visit(key, block) for each.
    template <typename Visit>
    void remove_process(std::uint32_t process, Visit visit)
    {
        std::vector<BlockKey> keys;
        for_each([&](const BlockKey& key, const LiveBlock&) {
            if (key.process == process) {
                keys.push_back(key);
            }
        });
        for (const BlockKey& key : keys) {
            visit(key, *remove(key));
        }
    }

    template <typename Visit>
    void for_each(Visit visit) const
    {
        for (const Entry& entry : entries_) {
            if (entry.used) {
                visit(entry.key, entry.block);
            }
        }
    }

  private:
    struct Entry {
        BlockKey key;
        LiveBlock block;
        bool used{};
    };

    [[nodiscard]] std::size_t home(const BlockKey& key) const noexcept;
    [[nodiscard]] std::size_t place_of(const BlockKey& key) const noexcept;
    void grow();

    std::vector<Entry> entries_;  // a power of two of them
    std::size_t count_{};
};

// invalid_input where an event, by its number from 1, brings a sum of bytes beyond 64 bits; 0: none does.
[[nodiscard]] base::Expected<void> possible_total(std::uint64_t impossible_event, const std::string& name);

// Small numbers for things that come and go: the number that was given back last is taken first.
class RecycledNumbers {
  public:
    std::uint32_t take()
    {
        if (unused_.empty()) {
            return count_++;
        }
        const std::uint32_t number = unused_.back();
        unused_.pop_back();
        return number;
    }
    void give_back(std::uint32_t number) { unused_.push_back(number); }
    // How many numbers exist, taken or not.
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

  private:
    std::vector<std::uint32_t> unused_;
    std::uint32_t count_{};
};

// Follows the blocks of a trace from event to event. Each live block has a recycled number, its tag.
class BlockWalk {
  public:
    // What one event does. An allocation that finds another block at its address replaces it: the free of that block
    // was not recorded. `made` may have the number of `freed`, never that of `replaced`.
    struct Change {
        std::optional<LiveBlock> freed;     // by a free, or as the old block of a realloc
        std::optional<LiveBlock> replaced;  // by `made`
        std::optional<LiveBlock> made;
        bool frees_unknown{};  // a block that is not live
        bool overflows{};      // the sum of what is live: the block is not made
    };

    // Changes nothing on events other than allocations, reallocs and frees.
    Change add(const Event& event);

    // Frees all blocks of a process that has ended or becomes another program; calls visit(block) for each.
    template <typename Visit>
    void end_process(std::uint32_t process, Visit visit)
    {
        live_.remove_process(process, [&](const BlockKey&, const LiveBlock& block) {
            forget(block);
            visit(block);
        });
    }

    [[nodiscard]] const LiveBlocks& live() const noexcept { return live_; }
    [[nodiscard]] std::uint64_t live_bytes() const noexcept { return live_bytes_; }
    [[nodiscard]] std::uint64_t peak_live_bytes() const noexcept { return peak_live_bytes_; }

  private:
    void release(const Event& event, std::uint64_t address, Change& change);
    void allocate(const Event& event, Change& change);
    void forget(const LiveBlock& block)
    {
        live_bytes_ -= block.size;
        numbers_.give_back(block.tag);
    }

    LiveBlocks live_;
    RecycledNumbers numbers_;
    std::uint64_t live_bytes_{};
    std::uint64_t peak_live_bytes_{};
};

}  // namespace memsweep::trace
