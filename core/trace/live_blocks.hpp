// The blocks that are live at one point of a trace, found by process, space and address.
//
// Cost     some 10 to 40 ns an operation, by how much of the table lies in cache.
// Memory   32 bytes a block, at most three quarters full.
// Threads  one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace memsweep::trace {

struct BlockKey {
    std::uint64_t address{};
    std::uint32_t process{};
    std::uint32_t space{};
    friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

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

}  // namespace memsweep::trace
