#include "core/trace/fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/base/checked.hpp"
#include "core/trace/live_blocks.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t max_live_peak = 1ULL << 56U;  // beyond it sums would wrap, and no machine has it

// Runs the operations through a placement.
class PlacementRun {
  public:
    PlacementRun(const PlacementOps& ops, Placement& placement) : ops_{&ops}, placement_{&placement} {}

    // So often, with what a run has left live freed before the next one. False where something did not fit: failure()
    // says what.
    template <typename AfterRun>
    bool repeat(std::uint64_t runs, AfterRun after_run)
    {
        while (run()) {
            after_run();
            if (run_ == runs) {
                return true;
            }
            end_run();
        }
        return false;
    }
    [[nodiscard]] const FitFailure& failure() const { return failure_; }
    // The operation that needs all of the capacity, as it would fail with one byte less.
    [[nodiscard]] std::optional<FitFailure> failure_in_less() const
    {
        const auto growth = placement_->last_growth();
        if (!growth) {
            return std::nullopt;
        }
        FitFailure failure = grew_;
        failure.largest_hole = std::max(growth->largest_hole, needed_ - 1 - growth->end);
        return failure;
    }

  private:
    bool run()
    {
        ++run_;
        for (std::size_t i = 0; i < ops_->ops.size(); ++i) {
            const PlacementOps::Op& op = ops_->ops[i];
            if (op.is_free) {
                placement_->release(op.block);
                live_bytes_ -= op.size;
            } else if (placement_->place(op.block, op.size)) {
                if (placement_->needed() > needed_) {
                    needed_ = placement_->needed();
                    grew_ = {ops_->events[i], op.size, live_bytes_, 0, run_};
                }
                live_bytes_ += op.size;
            } else {
                failure_ = {ops_->events[i], op.size, live_bytes_, placement_->largest_hole(), run_};
                return false;
            }
        }
        return true;
    }
    void end_run()
    {
        std::vector<std::optional<std::uint64_t>> live;  // sizes, by blocks
        for (const PlacementOps::Op& op : ops_->ops) {
            live.resize(std::max(live.size(), std::size_t{op.block} + 1));
            live[op.block] = op.is_free ? std::nullopt : std::optional{op.size};
        }
        for (std::uint32_t block = 0; block < live.size(); ++block) {
            if (live[block]) {
                placement_->release(block);
                live_bytes_ -= *live[block];
            }
        }
    }

    const PlacementOps* ops_;
    Placement* placement_;
    FitFailure failure_;
    FitFailure grew_;         // the last placement that needed more than all before
    std::uint64_t needed_{};  // after it
    std::uint64_t live_bytes_{};
    std::uint64_t run_{};
};

// What an unbounded arena grew to is what it needs.
void measure_growth(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options,
                    PolicyFit& result)
{
    const auto placement = policy.make(unbounded, options.alignment);
    PlacementRun walk{ops, *placement};
    if (!walk.repeat(options.runs, [&] { result.needed_after_run.push_back(placement->needed()); })) {
        result.needed_after_run.clear();
        result.impossible_event = walk.failure().event;
        return;
    }
    result.capacity = placement->needed();
    if (!options.capacity) {
        result.first_failure = walk.failure_in_less();
    }
}

// A capacity that suffices while one unit less does not, found by bisection; nullopt where none does.
std::optional<std::uint64_t> search(const PlacementOps& ops, const PlacementPolicy& policy, FitOptions options,
                                    std::uint64_t runs)
{
    options.runs = runs;
    constexpr std::uint64_t unit = 256;
    constexpr std::uint64_t max_units = (1ULL << 62U) / unit;
    const auto suffices = [&](std::uint64_t units) { return !first_failure(ops, policy, units * unit, options); };
    std::uint64_t low = ops.live_peak / unit;  // the blocks alone, or less
    if (low > 0) {
        --low;
    }
    std::uint64_t high = ops.live_peak / unit + 1;
    while (!suffices(high)) {
        if (high > max_units) {
            return std::nullopt;
        }
        low = high;
        high += high / 4 + 1;
    }
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (suffices(middle) ? high : low) = middle;
    }
    return high * unit;
}

// Turns the events of a trace into operations.
struct OpsReader {
    explicit OpsReader(std::optional<Memory> memory) : only_{memory} {}

    // False where what is live goes beyond what anything is fitted to.
    bool add(const Event& event)
    {
        if (event.kind == EventKind::define_space) {
            define(event);
            return true;
        }
        ++number_;
        if (result.stamps.empty() || event.ticks > result.stamps.back().ticks) {
            result.stamps.push_back({number_, event.ticks});
        }
        if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            walk.end_process(event.process, [&](const LiveBlock& block) { put(block, true); });
            return true;
        }
        if (event.kind == EventKind::fork) {
            forked_.insert(event.other);
        }
        const auto memory = memories_.find(event.space);
        if (memory != memories_.end() && asks_for_memory(event.kind)) {
            result.memories.insert(memory->second);
        }
        if (only_ && (memory == memories_.end() ? Memory{} : memory->second) != only_) {
            return true;
        }
        if (event.kind == EventKind::map || event.kind == EventKind::unmap) {
            map(event, memory != memories_.end() && memory->second.device);
        }
        return event.kind == EventKind::failed_alloc ? refuse(event) : change(event);
    }

    [[nodiscard]] std::uint64_t events() const { return number_; }
    // Things, as bounds.hpp counts them; the operations are bounded by the number of events.
    [[nodiscard]] std::uint64_t held() const { return walk.live().count() + memories_.size() + forked_.size(); }

    PlacementOps result;
    BlockWalk walk;
    std::uint64_t live_peak{};  // of what was granted

  private:
    void define(const Event& event)
    {
        const bool is_device = event.space_kind == SpaceKind::device;
        result.on_device = result.on_device || is_device;
        if (is_device) {
            memories_[event.space] = {event.other};
        } else if (event.space_kind == SpaceKind::host || event.space_kind == SpaceKind::pinned) {
            memories_[event.space] = {};
        }
    }

    void put(const std::optional<LiveBlock>& block, bool is_free)
    {
        if (block) {
            result.ops.push_back({block->size, block->tag, is_free});
            result.events.push_back(number_);
        }
    }

    static bool asks_for_memory(EventKind kind)
    {
        return is_allocation(kind) || kind == EventKind::realloc || kind == EventKind::failed_alloc;
    }

    bool change(const Event& event)
    {
        const BlockWalk::Change change = walk.add(event);
        if (change.overflows || walk.live_bytes() > max_live_peak) {
            result = {.on_device = result.on_device, .impossible_event = number_};
            return false;
        }
        result.unknown_frees += change.frees_unknown && !forked_.contains(event.process) ? 1U : 0U;
        live_peak = std::max(live_peak, walk.live_bytes());
        put(change.freed, true);
        put(change.replaced, true);
        put(change.made, false);
        return true;
    }

    // At an address that no block has, and that is free again at once.
    bool refuse(const Event& event)
    {
        ++result.refusals;
        if (event.size > max_live_peak || walk.live_bytes() > max_live_peak - event.size) {
            ++result.senseless_refusals;
            return true;
        }
        if (!result.refused || walk.live_bytes() + event.size > result.refused->live_bytes + result.refused->size) {
            result.refused = RefusedRequest{number_, event.size, walk.live_bytes()};
        }
        Event granted = event;
        granted.kind = EventKind::malloc;
        granted.address = ~0ULL;
        put(walk.add(granted).made, false);
        granted.kind = EventKind::free;
        put(walk.add(granted).freed, true);
        return true;
    }

    void map(const Event& event, bool on_device)
    {
        if (on_device) {
            mapped_ = event.kind == EventKind::map ? base::saturating_add(mapped_, event.size)
                                                   : mapped_ - std::min(mapped_, event.size);
            result.mapped_peak = std::max(result.mapped_peak, mapped_);
        }
    }

    std::optional<Memory> only_;
    std::map<std::uint32_t, Memory> memories_;  // by spaces
    std::set<std::uint32_t> forked_;            // processes that began with the blocks of another
    std::uint64_t number_{};
    std::uint64_t mapped_{};
};

struct Rectangle {
    std::uint64_t address{};
    std::uint64_t size{};
    std::uint64_t born{};  // operation
    std::uint64_t died{};
};

// A stretch of cells, [begin, end), and how much of each it covers.
struct Cover {
    double begin{};
    double end{};
    [[nodiscard]] double of(std::size_t cell) const
    {
        const auto at = static_cast<double>(cell);
        return std::max(0.0, std::min(end, at + 1) - std::max(begin, at));
    }
    [[nodiscard]] std::size_t first() const { return static_cast<std::size_t>(begin); }
    [[nodiscard]] std::size_t last(std::size_t cells) const
    {
        return std::min(cells, static_cast<std::size_t>(std::ceil(end)));
    }
};

Cover cover(std::uint64_t begin, std::uint64_t end, std::uint64_t whole, std::size_t cells)
{
    const double scale = static_cast<double>(cells) / static_cast<double>(whole);
    return {static_cast<double>(begin) * scale, static_cast<double>(end) * scale};
}

void paint(const Rectangle& block, AddressPicture& picture)
{
    const Cover time = cover(block.born, block.died, picture.operations, picture.columns);
    const Cover place = cover(block.address, block.address + block.size, picture.bytes, picture.rows);
    for (std::size_t column = time.first(); column < time.last(picture.columns); ++column) {
        const double share = time.of(column);
        for (std::size_t row = place.first(); row < place.last(picture.rows); ++row) {
            picture.taken[column * picture.rows + row] += static_cast<float>(share * place.of(row));
        }
    }
}

}  // namespace

std::span<const PlacementPolicy> placement_policies()
{
    static const std::vector<PlacementPolicy> policies = [] {
        std::vector<PlacementPolicy> all;
        std::ranges::copy(hole_policies(), std::back_inserter(all));
        std::ranges::copy(class_policies(), std::back_inserter(all));
        return all;
    }();
    return policies;
}

PlacementOps placement_ops(TraceReader& reader, std::optional<Memory> only)
{
    OpsReader ops{only};
    ops.result.ticks_per_second = reader.header().ticks_per_second;
    Event event;
    while (reader.next(event) && reader.may_hold_events(ops.events()) && reader.may_hold(ops.held())) {
        if (!ops.add(event)) {
            break;
        }
    }
    ops.result.live_peak = ops.live_peak;
    ops.result.granted_peak = ops.walk.peak_live_bytes();
    return std::move(ops.result);
}

std::optional<double> seconds_until(const PlacementOps& ops, std::uint64_t event)
{
    if (ops.ticks_per_second == 0 || ops.stamps.size() < 2) {
        return std::nullopt;
    }
    const auto after = std::ranges::upper_bound(ops.stamps, event, {}, &PlacementOps::Stamp::event);
    const std::uint64_t ticks = after == ops.stamps.begin() ? ops.stamps.front().ticks : std::prev(after)->ticks;
    return static_cast<double>(ticks - ops.stamps.front().ticks) / static_cast<double>(ops.ticks_per_second);
}

std::optional<FitFailure> first_failure(const PlacementOps& ops, const PlacementPolicy& policy, std::uint64_t capacity,
                                        const FitOptions& options)
{
    const auto placement = policy.make(capacity, options.alignment);
    PlacementRun walk{ops, *placement};
    return walk.repeat(options.runs, [] {}) ? std::nullopt : std::optional{walk.failure()};
}

PolicyFit fit(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options)
{
    PolicyFit result;
    result.policy = policy.name;
    const std::uint64_t peak = std::max(ops.live_peak, ops.granted_peak);
    if (peak == 0 || peak > max_live_peak) {
        return result;
    }
    if (policy.depends_on_capacity) {
        for (std::uint64_t run = 1; run <= options.runs; ++run) {
            const auto capacity = search(ops, policy, options, run);
            if (!capacity) {
                const auto failure = first_failure(ops, policy, 1ULL << 62U, options);
                result = {.policy = policy.name, .impossible_event = failure ? failure->event : ops.events.back()};
                return result;
            }
            result.needed_after_run.push_back(*capacity);
        }
        result.capacity = result.needed_after_run.back();
    } else {
        measure_growth(ops, policy, options, result);
        if (result.impossible_event != 0) {
            return result;
        }
    }
    result.ratio = static_cast<double>(result.capacity) / static_cast<double>(peak);
    if (!result.first_failure) {
        result.first_failure = first_failure(ops, policy, options.capacity.value_or(result.capacity - 1), options);
    }
    if (result.first_failure) {
        result.first_failure->seconds = seconds_until(ops, result.first_failure->event);
    }
    return result;
}

std::optional<AddressPicture> picture_addresses(const PlacementOps& ops, const PlacementPolicy& policy,
                                                const FitOptions& options, std::size_t columns, std::size_t rows)
{
    if (ops.ops.empty() || (policy.depends_on_capacity && !options.capacity)) {
        return std::nullopt;
    }
    AddressPicture picture{.columns = columns,
                           .rows = rows,
                           .operations = ops.ops.size(),
                           .taken = std::vector<float>(columns * rows),
                           .live = std::vector<std::uint64_t>(columns),
                           .high = std::vector<std::uint64_t>(columns)};
    const std::uint64_t capacity = policy.depends_on_capacity ? *options.capacity : unbounded;
    const auto placement = policy.make(capacity, options.alignment);
    std::vector<Rectangle> rectangles;
    PerBlock<std::size_t> rectangle_of;  // each block's last
    std::uint64_t live = 0;
    for (std::uint64_t i = 0; i < ops.ops.size(); ++i) {
        const PlacementOps::Op& op = ops.ops[i];
        if (op.is_free) {
            rectangles[rectangle_of.of(op.block)].died = i;
            placement->release(op.block);
            live -= op.size;
        } else {
            if (!placement->place(op.block, op.size)) {
                return std::nullopt;
            }
            const Placement::Extent range = placement->place_of(op.block);
            rectangle_of.set(op.block, rectangles.size());
            rectangles.push_back({range.address, range.size, i, ops.ops.size()});
            live += op.size;
        }
        const auto column = static_cast<std::size_t>(i * columns / ops.ops.size());
        picture.live[column] = std::max(picture.live[column], live);
        picture.high[column] = placement->needed();
    }
    picture.bytes = placement->needed();
    for (const Rectangle& rectangle : rectangles) {
        paint(rectangle, picture);
    }
    // Traces with fewer operations than columns leave columns without one.
    for (std::size_t column = 1; column < columns; ++column) {
        picture.high[column] = std::max(picture.high[column], picture.high[column - 1]);
    }
    return picture;
}

}  // namespace memsweep::trace
