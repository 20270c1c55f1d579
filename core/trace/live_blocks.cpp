#include "core/trace/live_blocks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace memsweep::trace {

// Multiplicative hashing: the upper bits depend on every bit of the address.
std::size_t LiveBlocks::Table::home(std::uint64_t address, std::uint32_t space) const noexcept
{
    const std::uint64_t hash = (address ^ space * 0xC2B2AE3D27D4EB4FULL) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(hash >> (64 - std::countr_zero(entries.size())));
}

// Where the key is, or the free place where it would go.
std::size_t LiveBlocks::Table::place_of(const BlockKey& key) const noexcept
{
    const std::size_t mask = entries.size() - 1;
    std::size_t at = home(key.address, key.space);
    while (entries[at].used && (entries[at].address != key.address || entries[at].space != key.space)) {
        at = (at + 1) & mask;
    }
    return at;
}

void LiveBlocks::Table::grow()
{
    std::vector<Entry> old = std::exchange(entries, std::vector<Entry>(entries.size() * 2));
    for (const Entry& entry : old) {
        if (entry.used) {
            entries[place_of({entry.address, 0, entry.space})] = entry;
        }
    }
}

LiveBlocks::Table* LiveBlocks::table_of(std::uint32_t process) const
{
    if (last_ == nullptr || last_process_ != process) {
        const auto found = tables_.find(process);
        last_ = found == tables_.end() ? nullptr : &found->second;
        last_process_ = process;
    }
    return last_;
}

std::optional<LiveBlock> LiveBlocks::insert(const BlockKey& key, const LiveBlock& block)
{
    Table* table = table_of(key.process);
    if (table == nullptr) {
        table = last_ = &tables_[key.process];
    }
    if ((table->count + 1) * 4 > table->entries.size() * 3) {
        table->grow();
    }
    Entry& entry = table->entries[table->place_of(key)];
    if (entry.used) {
        return std::exchange(entry.block, block);
    }
    entry.address = key.address;
    entry.space = key.space;
    entry.block = block;
    entry.used = true;
    ++table->count;
    ++count_;
    return std::nullopt;
}

const LiveBlock* LiveBlocks::find(const BlockKey& key) const
{
    const Table* const table = table_of(key.process);
    if (table == nullptr) {
        return nullptr;
    }
    const Entry& entry = table->entries[table->place_of(key)];
    return entry.used ? &entry.block : nullptr;
}

std::optional<LiveBlock> LiveBlocks::remove(const BlockKey& key)
{
    Table* const table = table_of(key.process);
    if (table == nullptr) {
        return std::nullopt;
    }
    std::vector<Entry>& entries = table->entries;
    const std::size_t mask = entries.size() - 1;
    std::size_t hole = table->place_of(key);
    if (!entries[hole].used) {
        return std::nullopt;
    }
    const LiveBlock block = entries[hole].block;
    // What follows moves up, so that no search ends at the hole before what it looks for.
    for (std::size_t at = (hole + 1) & mask; entries[at].used; at = (at + 1) & mask) {
        if (((at - table->home(entries[at].address, entries[at].space)) & mask) >= ((at - hole) & mask)) {
            entries[hole] = entries[at];
            hole = at;
        }
    }
    entries[hole].used = false;
    --table->count;
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
