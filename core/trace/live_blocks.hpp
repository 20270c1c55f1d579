// A table of the blocks that are live at one point of a trace, by process, space and address; and the walk that keeps
// it.
//
// Cost     some 10 to 40 ns an operation, by how much of the table lies in cache. The end of a process costs as much as
//          the most blocks that it had.
// Memory   32 bytes a block, at most three quarters full; the walk 4 more. A process that has blocks takes some 200.
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
    std::uint32_t tag{};  // the user's: a slot, an index
};

class LiveBlocks {
  public:
    // Returns the block that was there under this key, if any: two live blocks cannot share a place.
    std::optional<LiveBlock> insert(const BlockKey& key, const LiveBlock& block);
    std::optional<LiveBlock> remove(const BlockKey& key);
    [[nodiscard]] const LiveBlock* find(const BlockKey& key) const;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    // Removes all blocks of a process; calls visit(key, block) for each.
    template <typename Visit>
    void remove_process(std::uint32_t process, Visit visit)
    {
        const auto found = tables_.find(process);
        if (found == tables_.end()) {
            return;
        }
        const Table table = std::move(found->second);  // its memory goes with it: the next one may be small
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
        tables_ = std::move(other.tables_);  // last_ points to the same element
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
    // The blocks of one process, so that its end costs no more than it had.
    struct Table {
        std::vector<Entry> entries = std::vector<Entry>(4);  // a power of two of them
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

    mutable std::unordered_map<std::uint32_t, Table> tables_;  // by process; elements stay where they are
    mutable Table* last_{};                                    // last_process_'s, which is often asked for again
    mutable std::uint32_t last_process_{};
    std::size_t count_{};
};

// invalid_input if an event, numbered from 1, brings a sum of bytes beyond 64 bits. 0: none does.
[[nodiscard]] base::Expected<void> possible_total(std::uint64_t impossible_event, const std::string& name);

// Small numbers for things that come and go. The number that was given back last is taken first.
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
    // The effects of one event. If an allocation finds another block at its address, it replaces that block, whose free
    // was not recorded. `made` may have the number of `freed`, but never the number of `replaced`.
    struct Change {
        std::optional<LiveBlock> freed;     // by a free, or as the old block of a realloc
        std::optional<LiveBlock> replaced;  // by `made`
        std::optional<LiveBlock> made;
        bool frees_unknown{};  // a block that is not live
        bool overflows{};      // the sum of live bytes does; the block is not made
    };

    // Changes nothing on events other than allocations, reallocs and frees.
    Change add(const Event& event);

    // Frees all blocks of a process that has ended or becomes another program; calls visit(block) or visit(key, block)
    // for each.
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
