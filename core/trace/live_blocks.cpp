#include "core/trace/live_blocks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace memsweep::trace {

// Multiplicative hashing: the upper bits depend on every bit of the address.
std::size_t LiveBlocks::home(const BlockKey& key) const noexcept
{
    const std::uint64_t owner = (std::uint64_t{key.process} << 32U | key.space) * 0xC2B2AE3D27D4EB4FULL;
    const std::uint64_t hash = (key.address ^ owner) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(hash >> (64 - std::countr_zero(entries_.size())));
}

// Where the key is, or the free place where it would go.
std::size_t LiveBlocks::place_of(const BlockKey& key) const noexcept
{
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = home(key);
    while (entries_[at].used && !(entries_[at].key == key)) {
        at = (at + 1) & mask;
    }
    return at;
}

void LiveBlocks::grow()
{
    std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.size() * 2));
    for (const Entry& entry : old) {
        if (entry.used) {
            entries_[place_of(entry.key)] = entry;
        }
    }
}

std::optional<LiveBlock> LiveBlocks::insert(const BlockKey& key, const LiveBlock& block)
{
    if ((count_ + 1) * 4 > entries_.size() * 3) {
        grow();
    }
    Entry& entry = entries_[place_of(key)];
    if (entry.used) {
        return std::exchange(entry.block, block);
    }
    entry = {key, block, true};
    ++count_;
    return std::nullopt;
}

const LiveBlock* LiveBlocks::find(const BlockKey& key) const
{
    const Entry& entry = entries_[place_of(key)];
    return entry.used ? &entry.block : nullptr;
}

std::optional<LiveBlock> LiveBlocks::remove(const BlockKey& key)
{
    const std::size_t mask = entries_.size() - 1;
    std::size_t hole = place_of(key);
    if (!entries_[hole].used) {
        return std::nullopt;
    }
    const LiveBlock block = entries_[hole].block;
    // What follows moves up, so that no search ends at the hole before what it looks for.
    for (std::size_t at = (hole + 1) & mask; entries_[at].used; at = (at + 1) & mask) {
        if (((at - home(entries_[at].key)) & mask) >= ((at - hole) & mask)) {
            entries_[hole] = entries_[at];
            hole = at;
        }
    }
    entries_[hole].used = false;
    --count_;
    return block;
}

base::Expected<void> possible_total(std::uint64_t impossible_event, const std::string& name)
{
    if (impossible_event == 0) {
        return {};
    }
    return base::fail(
        base::ErrorCode::invalid_input,
        fmt::format("event {} cannot be: with it the sizes add up to more than 64 bits hold", impossible_event), name);
}

BlockWalk::Change BlockWalk::add(const Event& event)
{
    Change change;
    if (is_allocation(event.kind)) {
        allocate(event, change);
    } else if (event.kind == EventKind::free) {
        release(event, event.address, change);
    } else if (event.kind == EventKind::realloc) {
        release(event, event.old_address, change);
        if (event.address != 0) {
            allocate(event, change);
        }
    }
    return change;
}

void BlockWalk::release(const Event& event, std::uint64_t address, Change& change)
{
    change.freed = live_.remove(key_of(event, address));
    if (change.freed) {
        forget(*change.freed);
    }
    change.frees_unknown = !change.freed && address != 0;
}

void BlockWalk::allocate(const Event& event, Change& change)
{
    const auto live_bytes = base::checked_add(live_bytes_, event.size);
    if (!live_bytes) {
        change.overflows = true;
        return;
    }
    change.made = LiveBlock{event.size, numbers_.take()};
    change.replaced = live_.insert(key_of(event, event.address), *change.made);
    if (change.replaced) {
        forget(*change.replaced);
    }
    live_bytes_ += event.size;  // a block that was replaced is gone from it
    peak_live_bytes_ = std::max(peak_live_bytes_, live_bytes_);
}

}  // namespace memsweep::trace
