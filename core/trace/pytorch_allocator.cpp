#include "core/trace/pytorch_allocator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "core/base/checked.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t min_block = 512;
constexpr std::uint64_t max_small = mib;
constexpr std::uint64_t small_segment = 2 * mib;
constexpr std::uint64_t large_segment = 20 * mib;
constexpr std::uint64_t least_own_segment = 10 * mib;
constexpr std::uint64_t own_segment_step = 2 * mib;
constexpr std::uint64_t most_reserved = 1ULL << 56U;  // where no capacity is given
constexpr std::uint64_t address_space = 1ULL << 60U;  // of an expandable segment

constexpr std::uint32_t no_block = ~0U;

struct PoolBlock {
    std::uint64_t address{};
    std::uint64_t size{};
    std::uint64_t stream{};
    std::uint64_t cached_at{};       // the searches of its pool before it was cached
    std::uint32_t before{no_block};  // neighbours of the same segment
    std::uint32_t after{no_block};
    bool is_small{};
    bool is_mapped{true};
    bool is_expandable{};
    bool is_used{};  // by the program, or, after a free, still by a stream

    [[nodiscard]] bool is_whole() const { return before == no_block && after == no_block; }
};

// Cached blocks in the order in which they are looked at, unmapped ones with a size of 0: by address.
struct PoolKey {
    std::uint64_t stream{};
    std::uint64_t size{};
    std::uint64_t address{};
    std::uint32_t block{};
    friend auto operator<=>(const PoolKey&, const PoolKey&) = default;
};

struct BlockPool {
    std::set<PoolKey> cached;
    std::set<PoolKey> unmapped;
    std::uint64_t searches{};
};

class PyTorchAllocator {
  public:
    PyTorchAllocator(const PyTorchSettings& settings, std::optional<std::uint64_t> capacity,
                     std::span<const SegmentPlace> segments)
        : settings_{settings}, capacity_{capacity}, addresses_{segments}
    {
    }

    // Its block, or nothing where the capacity has no room: failure_of() says more then.
    std::optional<std::uint32_t> allocate(std::uint64_t asked, std::uint64_t stream)
    {
        const Request request = request_of(asked, stream);
        std::optional<std::uint32_t> found = search(request);
        if (!found) {
            collect_garbage();
            found = grow(request);
            if (!found && release_oversize(request)) {
                found = grow(request);
            }
            if (!found) {
                release_cached();
                ++outcome.retries;
                found = grow(request);
            }
        }
        if (!found) {
            return std::nullopt;
        }
        split(*found, request);
        PoolBlock& block = blocks_[*found];
        block.is_used = true;
        allocated += block.size;
        outcome.allocated_peak = std::max(outcome.allocated_peak, allocated);
        return found;
    }

    // The program has let go of it; streams may still use it, until free() with the ticket that this returns.
    std::uint64_t request_free(std::uint32_t number)
    {
        allocated -= blocks_[number].size;
        waiting_.emplace(++tickets_, number);
        return tickets_;
    }
    // Nothing is left to do where all streams were waited for in between.
    void free(std::uint64_t ticket)
    {
        if (const auto found = waiting_.find(ticket); found != waiting_.end()) {
            const std::uint32_t number = found->second;
            waiting_.erase(found);
            cache(number);
        }
    }

    // As torch.cuda.empty_cache() does, and a request that nothing else has helped.
    void release_cached()
    {
        for (const auto& [ticket, number] : std::exchange(waiting_, {})) {
            cache(number);
        }
        for (const bool is_small : {false, true}) {
            std::vector<std::uint32_t> expandable;
            for (auto at = pool(is_small).cached.begin(); at != pool(is_small).cached.end();) {
                const std::uint32_t number = (at++)->block;
                if (blocks_[number].is_expandable) {
                    expandable.push_back(number);
                } else if (blocks_[number].is_whole()) {
                    release(number);
                }
            }
            std::ranges::for_each(expandable, [this](std::uint32_t number) { unmap(number); });
        }
    }

    [[nodiscard]] PyTorchFailure failure_of(std::uint64_t asked, std::uint64_t stream) const
    {
        const Request request = request_of(asked, stream);
        const auto& cached = pools_[request.is_small ? 1 : 0].cached;
        const auto after = cached.upper_bound({stream, ~0ULL, ~0ULL, ~0U});
        const bool has_any = after != cached.begin() && std::prev(after)->stream == stream;
        return {.size = asked,
                .segment = request.segment,
                .live = allocated,
                .reserved = reserved,
                .largest_cached = has_any ? std::prev(after)->size : 0};
    }

    PyTorchOutcome outcome;
    std::uint64_t reserved{};
    std::uint64_t allocated{};

  private:
    struct Request {
        std::uint64_t size{};  // rounded
        std::uint64_t stream{};
        std::uint64_t segment{};
        bool is_small{};
    };

    BlockPool& pool(bool is_small) { return pools_[is_small ? 1 : 0]; }
    BlockPool& pool_of(std::uint32_t number) { return pool(blocks_[number].is_small); }
    [[nodiscard]] PoolKey key_of(std::uint32_t number) const
    {
        const PoolBlock& block = blocks_[number];
        return {block.stream, block.is_mapped ? block.size : 0, block.address, number};
    }
    std::set<PoolKey>& idle_like(std::uint32_t number)
    {
        return blocks_[number].is_mapped ? pool_of(number).cached : pool_of(number).unmapped;
    }

    [[nodiscard]] std::uint64_t rounded(std::uint64_t asked) const
    {
        const std::uint64_t divisions = settings_.divisions_of(asked);
        if (asked < min_block || divisions <= 1 || asked <= base::saturating_mul(min_block, divisions)) {
            return rounded_up(std::max(asked, min_block), min_block);
        }
        const std::uint64_t step = std::bit_floor(asked) / divisions;
        return std::has_single_bit(asked) ? asked : rounded_up(asked, step);
    }

    [[nodiscard]] Request request_of(std::uint64_t asked, std::uint64_t stream) const
    {
        Request request{.size = rounded(asked), .stream = stream};
        request.is_small = request.size <= max_small;
        request.segment = request.is_small                   ? small_segment
                          : request.size < least_own_segment ? large_segment
                                                             : rounded_up(request.size, own_segment_step);
        return request;
    }

    std::uint32_t add_block(const PoolBlock& block)
    {
        const std::uint32_t number = numbers_.take();
        if (number == blocks_.size()) {
            blocks_.emplace_back();
        }
        blocks_[number] = block;
        return number;
    }

    // What a block could become where the unmapped rest of its segment follows.
    [[nodiscard]] std::uint64_t reach_of(std::uint32_t number) const
    {
        const PoolBlock& block = blocks_[number];
        const bool can_grow = block.after != no_block && !blocks_[block.after].is_mapped;
        return block.size + (can_grow ? blocks_[block.after].size : 0);
    }

    // The cached block that best fits, out of its pool.
    std::optional<std::uint32_t> search(const Request& request)
    {
        BlockPool& pool = this->pool(request.is_small);
        ++pool.searches;
        auto at = pool.cached.lower_bound({request.stream, request.size, 0, 0});
        if (at == pool.cached.end() || at->stream != request.stream) {
            return std::nullopt;
        }
        if (settings_.expandable) {
            for (auto next = std::next(at); next != pool.cached.end() && next->stream == request.stream &&
                                            reach_of(next->block) < reach_of(at->block);
                 ++next) {
                at = next;
            }
        }
        const bool is_too_large = request.size < settings_.max_split
                                      ? at->size >= settings_.max_split
                                      : at->size - request.size >= settings_.max_non_split_rounding;
        if (is_too_large) {
            return std::nullopt;
        }
        const std::uint32_t number = at->block;
        pool.cached.erase(at);
        return number;
    }

    std::optional<std::uint32_t> grow(const Request& request)
    {
        if (base::saturating_add(reserved, request.segment) > capacity_.value_or(most_reserved)) {
            return std::nullopt;
        }
        if (settings_.expandable) {
            return expand(request);
        }
        reserve(request.segment);
        return add_block({.address = addresses_.take(request.segment),
                          .size = request.segment,
                          .stream = request.stream,
                          .is_small = request.is_small});
    }

    void reserve(std::uint64_t bytes)
    {
        reserved += bytes;
        outcome.reserved_peak = std::max(outcome.reserved_peak, reserved);
        ++outcome.device_allocs;
    }

    // The lowest unmapped block that, with what is free beside it, has room; or the one before it, where that is free.
    std::uint32_t expandable_block(const Request& request)
    {
        std::set<PoolKey>& unmapped = pool(request.is_small).unmapped;
        for (auto at = unmapped.lower_bound({request.stream, 0, 0, 0});
             at != unmapped.end() && at->stream == request.stream; ++at) {
            std::uint32_t first = at->block;
            if (const std::uint32_t before = blocks_[first].before; before != no_block && !blocks_[before].is_used) {
                first = before;
            }
            std::uint64_t room = 0;
            for (std::uint32_t number = first; room < request.size && number != no_block && !blocks_[number].is_used;
                 number = blocks_[number].after) {
                room += blocks_[number].size;
            }
            if (room >= request.size) {
                return first;
            }
        }
        const std::uint32_t added = add_block({.size = address_space,
                                               .stream = request.stream,
                                               .is_small = request.is_small,
                                               .is_mapped = false,
                                               .is_expandable = true});
        unmapped.insert(key_of(added));
        return added;
    }

    std::uint32_t expand(const Request& request)
    {
        std::uint32_t number = expandable_block(request);
        if (!blocks_[number].is_mapped) {
            map(number, std::min(request.size, blocks_[number].size));
        }
        while (blocks_[number].size < request.size) {
            const std::uint32_t next = blocks_[number].after;
            map(next, std::min(request.size - blocks_[number].size, blocks_[next].size));
            number = next;
        }
        pool_of(number).cached.erase(key_of(number));
        return number;
    }

    [[nodiscard]] static std::uint64_t page_of(const PoolBlock& block)
    {
        return block.is_small ? small_segment : large_segment;
    }

    void map(std::uint32_t number, std::uint64_t size)
    {
        pool_of(number).unmapped.erase(key_of(number));
        const std::uint64_t bytes = rounded_up(size, page_of(blocks_[number]));
        if (bytes < blocks_[number].size) {
            const std::uint32_t rest = cut(number, bytes);
            pool_of(number).unmapped.insert(key_of(rest));
        }
        blocks_[number].is_mapped = true;
        reserve(bytes);
        cache(number);
    }

    // Leaves `size` in the block; what is left of it becomes a block of its own behind it.
    std::uint32_t cut(std::uint32_t number, std::uint64_t size)
    {
        PoolBlock rest = blocks_[number];
        rest.address += size;
        rest.size -= size;
        rest.before = number;
        const std::uint32_t added = add_block(rest);
        if (rest.after != no_block) {
            blocks_[rest.after].before = added;
        }
        blocks_[number].after = added;
        blocks_[number].size = size;
        return added;
    }

    void split(std::uint32_t number, const Request& request)
    {
        const std::uint64_t rest = blocks_[number].size - request.size;
        const bool splits = request.is_small || settings_.expandable
                                ? rest >= min_block
                                : request.size < settings_.max_split && rest > max_small;
        if (splits) {
            const std::uint32_t added = cut(number, request.size);
            blocks_[added].cached_at = pool(request.is_small).searches;
            pool(request.is_small).cached.insert(key_of(added));
        }
    }

    // The neighbour becomes part of the block where neither is used and both are mapped, or both not.
    void merge(std::uint32_t number, std::uint32_t other)
    {
        if (other == no_block || blocks_[other].is_used || blocks_[other].is_mapped != blocks_[number].is_mapped) {
            return;
        }
        idle_like(other).erase(key_of(other));
        PoolBlock& block = blocks_[number];
        block.size += blocks_[other].size;
        if (block.before == other) {
            block.address = blocks_[other].address;
            block.before = blocks_[other].before;
            if (block.before != no_block) {
                blocks_[block.before].after = number;
            }
        } else {
            block.after = blocks_[other].after;
            if (block.after != no_block) {
                blocks_[block.after].before = number;
            }
        }
        numbers_.give_back(other);
    }

    void cache(std::uint32_t number)
    {
        blocks_[number].is_used = false;
        merge(number, blocks_[number].before);
        merge(number, blocks_[number].after);
        keep(number);
    }
    void keep(std::uint32_t number)
    {
        blocks_[number].cached_at = pool_of(number).searches;
        pool_of(number).cached.insert(key_of(number));
    }

    // A whole segment goes back to the device.
    void release(std::uint32_t number)
    {
        const PoolBlock& block = blocks_[number];
        pool_of(number).cached.erase(key_of(number));
        addresses_.give_back(block.address, block.size);
        reserved -= block.size;
        ++outcome.device_frees;
        numbers_.give_back(number);
    }

    // The pages that lie wholly in a cached block go back to the device.
    void unmap(std::uint32_t number)
    {
        const std::uint64_t page = page_of(blocks_[number]);
        const std::uint64_t begin = rounded_up(blocks_[number].address, page);
        const std::uint64_t end = (blocks_[number].address + blocks_[number].size) / page * page;
        if (begin >= end) {
            return;
        }
        pool_of(number).cached.erase(key_of(number));
        if (blocks_[number].address < begin) {
            const std::uint32_t rest = cut(number, begin - blocks_[number].address);
            keep(number);
            number = rest;
        }
        if (blocks_[number].size > end - begin) {
            keep(cut(number, end - begin));
        }
        blocks_[number].is_mapped = false;
        merge(number, blocks_[number].before);
        merge(number, blocks_[number].after);
        pool_of(number).unmapped.insert(key_of(number));
        reserved -= end - begin;
        ++outcome.device_frees;
    }

    // With a max_split_size, blocks of that size are given back before anything else: one that suffices, or the largest
    // until they do. False where they do not.
    bool release_oversize(const Request& request)
    {
        if (settings_.max_split == unbounded) {
            return false;
        }
        std::set<PoolKey>& cached = pool(request.is_small).cached;
        const std::uint64_t wanted = std::max(request.size, settings_.max_split);
        auto at = cached.lower_bound({request.stream, wanted, 0, 0});
        if (at != cached.end() && at->stream == request.stream && !blocks_[at->block].is_expandable) {
            release(at->block);
            return true;
        }
        std::uint64_t released = 0;
        while (released < wanted && at != cached.begin()) {
            const PoolKey key = *--at;
            if (key.size < settings_.max_split || key.stream != request.stream) {
                break;
            }
            if (!blocks_[key.block].is_expandable) {
                at = std::next(at);
                released += key.size;
                release(key.block);
            }
        }
        return released >= wanted;
    }

    // Above its share of the capacity, segments that have been cached for longer than the average are given back.
    void collect_garbage()
    {
        if (!capacity_ || settings_.gc_threshold <= 0) {
            return;
        }
        const auto threshold = static_cast<std::uint64_t>(settings_.gc_threshold * static_cast<double>(*capacity_));
        if (reserved <= threshold) {
            return;
        }
        const std::uint64_t target = reserved - threshold;
        BlockPool& large = pool(false);
        const auto age_of = [&](std::uint32_t number) { return large.searches - blocks_[number].cached_at; };
        std::vector<std::uint32_t> whole;
        std::uint64_t age = 0;
        for (const PoolKey& key : large.cached) {
            if (blocks_[key.block].is_whole() && !blocks_[key.block].is_expandable) {
                whole.push_back(key.block);
                age += age_of(key.block);
            }
        }
        std::uint64_t freed = 0;
        bool has_freed = true;
        while (freed < target && has_freed && !whole.empty()) {
            const double average = static_cast<double>(age) / static_cast<double>(whole.size());
            has_freed = std::erase_if(whole, [&](std::uint32_t number) {
                            if (static_cast<double>(age_of(number)) < average) {
                                return false;
                            }
                            freed += blocks_[number].size;
                            age -= age_of(number);
                            release(number);
                            return true;
                        }) != 0;
        }
    }

    PyTorchSettings settings_;
    std::optional<std::uint64_t> capacity_;
    SegmentAddresses addresses_;
    std::vector<PoolBlock> blocks_;
    RecycledNumbers numbers_;
    std::array<BlockPool, 2> pools_;                  // of large blocks, and of small ones
    std::map<std::uint64_t, std::uint32_t> waiting_;  // by ticket: freed by the program and not yet by its streams
    std::uint64_t tickets_{};
};

// Of each stretch of operations the highest values.
class Curve {
  public:
    Curve(std::size_t operations, std::size_t points) : operations_{operations}, points_{points} {}

    void add(std::size_t operation, const PyTorchPoint& point, std::vector<PyTorchPoint>& curve)
    {
        if (points_ == 0) {
            return;
        }
        const std::size_t stretch = operation * points_ / operations_;
        if (curve.empty() || stretch != stretch_) {
            stretch_ = stretch;
            curve.push_back(point);
            return;
        }
        curve.back().reserved = std::max(curve.back().reserved, point.reserved);
        curve.back().allocated = std::max(curve.back().allocated, point.allocated);
    }

  private:
    std::size_t operations_;
    std::size_t points_;
    std::size_t stretch_{};
};

}  // namespace

PyTorchOutcome simulate(const PyTorchOps& ops, const PyTorchSettings& settings, std::optional<std::uint64_t> capacity,
                        std::size_t points)
{
    using Action = PyTorchOps::Action;
    struct Held {
        std::uint32_t block{};
        std::optional<std::uint64_t> ticket{};
    };
    PyTorchAllocator allocator{settings, capacity, ops.segments};
    std::vector<Held> held;
    Curve curve{ops.ops.size(), points};
    for (std::size_t i = 0; i < ops.ops.size(); ++i) {
        const PyTorchOps::Op& op = ops.ops[i];
        if (op.action == Action::allocate || op.action == Action::refuse) {
            const auto block = allocator.allocate(op.size, op.stream);
            if (!block) {
                allocator.outcome.failure = allocator.failure_of(op.size, op.stream);
                allocator.outcome.failure->event = op.event;
                break;
            }
            curve.add(i, {op.event, allocator.reserved, allocator.allocated}, allocator.outcome.curve);
            if (op.action == Action::refuse) {
                allocator.free(allocator.request_free(*block));
            } else {
                held.resize(std::max(held.size(), std::size_t{op.block} + 1));
                held[op.block] = {.block = *block};
            }
        } else if (op.action == Action::empty_cache) {
            allocator.release_cached();
        } else {
            Held& one = held[op.block];
            if (!one.ticket) {
                one.ticket = allocator.request_free(one.block);
            }
            if (op.action == Action::free) {
                allocator.free(*one.ticket);
            }
        }
        curve.add(i, {op.event, allocator.reserved, allocator.allocated}, allocator.outcome.curve);
    }
    allocator.outcome.reserved_end = allocator.reserved;
    return std::move(allocator.outcome);
}

}  // namespace memsweep::trace
