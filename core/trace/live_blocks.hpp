// LiveBlocks is a table of the blocks that are live at one point of a trace. Its key is a block's process, its space
// (the memory that it belongs to; see event.hpp) and its address. BlockWalk updates the table from event to event.
//
// Cost     10 to 40 ns per operation, depending on how much of the table is in the processor's caches. The end of a
//          process takes time in proportion to the peak number of its live blocks.
// Memory   32 bytes per entry of a table; at most three quarters of the entries have a block. BlockWalk takes 4 more
//          bytes per block. Each process with blocks takes some 200 bytes.
// Threads  one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
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
    std::uint32_t tag{};  // a value of the caller, such as an index
};

class LiveBlocks {
  public:
    // Adds a block. Returns the block that had this key and is now replaced. nullopt: no block had this key.
    std::optional<LiveBlock> insert(const BlockKey& key, const LiveBlock& block);
    std::optional<LiveBlock> remove(const BlockKey& key);
    [[nodiscard]] const LiveBlock* find(const BlockKey& key) const;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    // Removes all blocks of a process. Calls visit(key, block) for each of them.
    template <typename Visit>
    void remove_process(std::uint32_t process, Visit visit)
    {
        const auto found = tables_.find(process);
        if (found == tables_.end()) {
            return;
        }
        const Table table = std::move(found->second);  // moved out, so that its memory is freed on return
        tables_.erase(found);
        last_ = nullptr;
        count_ -= table.count;
        visit_all(process, table, visit);
    }

    template <typename Visit>
    void for_each(Visit visit) const
    {
        for (const auto& [process, table] : tables_) {
            visit_all(process, table, visit);
        }
    }

    LiveBlocks() = default;
    LiveBlocks(LiveBlocks&& other) noexcept { *this = std::move(other); }
    LiveBlocks& operator=(LiveBlocks&& other) noexcept
    {
        tables_ = std::move(other.tables_);  // moving the map leaves its elements in place, so last_ stays valid
        last_ = std::exchange(other.last_, nullptr);
        last_process_ = other.last_process_;
        count_ = std::exchange(other.count_, 0);
        other.tables_.clear();
        return *this;
    }

  private:
    struct Entry {
        std::uint64_t address{};
        [[no_unique_address]] LiveBlock block;
        std::uint32_t space{};
        bool used{};
    };
    // The blocks of one process. Each process has its own table, so that the end of a process takes no time for the
    // blocks of other processes.
    struct Table {
        std::vector<Entry> entries = std::vector<Entry>(4);  // their number is a power of two
        std::size_t count{};

        [[nodiscard]] std::size_t home(std::uint64_t address, std::uint32_t space) const noexcept;
        [[nodiscard]] std::size_t place_of(const BlockKey& key) const noexcept;
        void grow();
    };

    template <typename Visit>
    static void visit_all(std::uint32_t process, const Table& table, Visit& visit)
    {
        for (const Entry& entry : table.entries) {
            if (entry.used) {
                visit(BlockKey{entry.address, process, entry.space}, entry.block);
            }
        }
    }
    [[nodiscard]] Table* table_of(std::uint32_t process) const;

    mutable std::unordered_map<std::uint32_t, Table> tables_;  // by process; the map never moves its elements
    mutable Table* last_{};  // the table of last_process_, the likeliest for the next look-up
    mutable std::uint32_t last_process_{};
    std::size_t count_{};
};

// Returns invalid_input if `impossible_event` is not 0. `impossible_event`: the event at which a sum of bytes
// first exceeds 64 bits, counted from 1; 0: there is none. `name`: the trace's name, for the message.
[[nodiscard]] base::Expected<void> possible_total(std::uint64_t impossible_event, const std::string& name);

// Gives small numbers to objects that come and go. take() returns the number that was given back last, or a new one if
// all numbers are in use.
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
    // Returns how many different numbers take() has returned so far.
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

  private:
    std::vector<std::uint32_t> unused_;
    std::uint32_t count_{};
};

// Follows the blocks of a trace from event to event. Each live block has a number from RecycledNumbers, its tag.
class BlockWalk {
  public:
    // The effects of one event. If a live block has the address of a new allocation, the free of the live block was not
    // recorded, and the new block replaces it. `made` may have the same number as `freed`, but never the same number as
    // `replaced`.
    struct Change {
        std::optional<LiveBlock> freed;     // the block that was freed, or the old block of a realloc
        std::optional<LiveBlock> replaced;  // the block that `made` replaces
        std::optional<LiveBlock> made;
        bool frees_unknown{};  // the event frees a block that is not live
        bool overflows{};      // the sum of live bytes would exceed 64 bits, so the block is not made
    };

    // Takes the next event, and returns its effects. Events other than allocations, reallocs and frees have none.
    Change add(const Event& event);

    // Frees all blocks of a process that has ended or executes another program. Calls visit(block) or visit(key, block)
    // for each of them.
    template <typename Visit>
    void end_process(std::uint32_t process, Visit visit)
    {
        live_.remove_process(process, [&](const BlockKey& key, const LiveBlock& block) {
            forget(block);
            if constexpr (std::is_invocable_v<Visit&, const BlockKey&, const LiveBlock&>) {
                visit(key, block);
            } else {
                visit(block);
            }
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
