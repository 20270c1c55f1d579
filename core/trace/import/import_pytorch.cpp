#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "core/base/checked.hpp"
#include "core/trace/import/import.hpp"
#include "core/trace/import/pickle.hpp"

namespace memsweep::trace {
namespace {

bool is_pytorch(std::string_view head)
{
    return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

std::uint64_t unsigned_of(const PickleValue& value, std::string_view key)
{
    return static_cast<std::uint64_t>(value.integer_of(key));
}

struct Entry {
    const PickleValue* value;
    std::uint32_t device;
};

constexpr std::uint64_t grain_bytes = 512;  // what PyTorch rounds sizes up to

using DeviceAddress = std::pair<std::uint32_t, std::uint64_t>;  // device, address

constexpr std::array<LoggedAction, 9> pytorch_actions{{{"alloc", EventKind::malloc},
                                                       {"free", EventKind::free},
                                                       {"free_completed", EventKind::free},
                                                       {"free_requested", EventKind::free_requested},
                                                       {"segment_alloc", EventKind::map},
                                                       {"segment_map", EventKind::map},
                                                       {"segment_free", EventKind::unmap},
                                                       {"segment_unmap", EventKind::unmap},
                                                       {"oom", EventKind::failed_alloc}}};

bool starts_active(const PickleValue& block)
{
    return block.text_of("state").starts_with("active");
}

// The stacks of a snapshot: lists of frames, from the innermost on, that blocks and events refer to. They have names
// and no addresses, which are made up: one for each place in the source.
class SnapshotStacks {
  public:
    explicit SnapshotStacks(ImportSink& sink) : sink_{&sink} {}

    // Of an event, or of a block by its last event.
    std::uint32_t of(const PickleValue& value)
    {
        const PickleValue* frames = value.get("frames");
        const std::vector<PickleValue*>& history = value.items_of("history");
        if (frames == nullptr && !history.empty()) {
            frames = history.front()->get("frames");
        }
        if (frames == nullptr || frames->kind != PickleValue::Kind::list) {
            return 0;
        }
        const auto [known, is_new] = known_.try_emplace(frames, 0);
        if (is_new) {
            for (const PickleValue* frame : std::views::reverse(frames->items)) {
                known->second = sink_->stack(known->second, address_of(*frame));
            }
        }
        return known->second;
    }

  private:
    std::uint64_t address_of(const PickleValue& frame)
    {
        const std::string_view file = frame.text_of("filename");
        const auto line = static_cast<std::uint32_t>(std::max<std::int64_t>(frame.integer_of("line"), 0));
        const SourceFrame place{frame.text_of("name"), file == "??" ? std::string_view{} : file, line};
        const auto [number, is_new] =
            places_.try_emplace({place.function, place.file, place.line}, made_address(places_.size()));
        if (is_new) {
            sink_->name_address(number->second, {}, {&place, 1});
        }
        return number->second;
    }

    ImportSink* sink_;
    std::map<const PickleValue*, std::uint32_t> known_;
    std::map<std::tuple<std::string_view, std::string_view, std::uint32_t>, std::uint64_t> places_;
};

class Snapshot {
  public:
    Snapshot(const PickleValue& root, ImportSink& sink) : root_{&root}, sink_{&sink}, stacks_{sink} {}

    // False for a snapshot that refers to more entries and blocks than it has: none that PyTorch wrote does, and what
    // they would take has no bound by the log's size.
    [[nodiscard]] bool import(std::size_t values)
    {
        if (count_references() > values) {
            return false;
        }
        order_entries();
        map_older_segments();
        choose_unit();
        find_ghosts();
        std::uint64_t number = 0;
        for (const Entry& entry : entries_) {
            add(entry, ++number);
        }
        state_totals();
        return true;
    }

  private:
    [[nodiscard]] const std::vector<PickleValue*>& segments() const
    {
        const bool is_list = root_->kind == PickleValue::Kind::list;  // as torch.cuda.memory_snapshot() gives it
        return is_list ? root_->items : root_->items_of("segments");
    }

    [[nodiscard]] std::size_t count_references() const
    {
        std::size_t count = segments().size();
        for (const PickleValue* trace : root_->items_of("device_traces")) {
            count += trace->items.size();
        }
        for (const PickleValue* segment : segments()) {
            count += segment->items_of("blocks").size();
        }
        return count;
    }

    // Address ranges of one device, from address to end.
    using Ranges = std::map<std::uint64_t, std::uint64_t>;

    static void take_out(Ranges& ranges, std::uint64_t begin, std::uint64_t end)
    {
        auto at = ranges.upper_bound(begin);
        at = at == ranges.begin() ? at : std::prev(at);
        while (at != ranges.end() && at->first < end) {
            const auto [first, last] = *at;
            if (last <= begin) {
                ++at;
                continue;
            }
            at = ranges.erase(at);
            if (first < begin) {
                ranges.emplace(first, begin);
            }
            if (last > end) {
                at = ranges.emplace(end, last).first;
            }
        }
    }

    // What was mapped before the ring: the segments of the snapshot, and the ring's maps and unmaps taken back from
    // the last one to the first. An unmapped range stays a range of its own, as it will be unmapped.
    void map_older_segments()
    {
        std::map<std::uint32_t, Ranges> mapped;
        const auto put = [&](std::uint32_t device, std::uint64_t begin, std::uint64_t bytes) {
            const auto end = base::checked_add(begin, bytes);
            if (end && bytes != 0) {
                take_out(mapped[device], begin, *end);
                mapped[device].emplace(begin, *end);
            }
        };
        for (const PickleValue* segment : segments()) {
            put(static_cast<std::uint32_t>(segment->integer_of("device")), unsigned_of(*segment, "address"),
                unsigned_of(*segment, "total_size"));
        }
        for (const auto& [value, device] : std::views::reverse(entries_)) {
            const auto kind = kind_of(pytorch_actions, value->text_of("action"));
            const std::uint64_t address = unsigned_of(*value, "addr");
            const std::uint64_t bytes = unsigned_of(*value, "size");
            if (kind == EventKind::unmap) {
                put(device, address, bytes);
            } else if (kind == EventKind::map) {
                take_out(mapped[device], address, base::saturating_add(address, bytes));
            }
        }
        for (const auto& [device, ranges] : mapped) {
            for (const auto& [begin, end] : ranges) {
                sink_->state_fact(beginning_fact, "the allocator had taken segments before the snapshot's ring begins");
                name_device(device);
                sink_->add({.kind = EventKind::map,
                            .space = device,
                            .address = begin,
                            .size = end - begin,
                            .ticks = first_ticks_});
            }
        }
    }

    // The traces of all devices in the order of their times; within a device as they stand.
    void order_entries()
    {
        std::uint32_t device = 0;
        for (const PickleValue* trace : root_->items_of("device_traces")) {
            for (const PickleValue* entry : trace->items) {
                if (trace->kind == PickleValue::Kind::list && entry->kind == PickleValue::Kind::dict) {
                    entries_.push_back({entry, device});
                }
            }
            ++device;
        }
        std::ranges::stable_sort(entries_, {}, [](const Entry& entry) { return entry.value->integer_of("time_us"); });
        first_ticks_ = entries_.empty() ? 0 : ticks_of(*entries_.front().value);
    }

    static std::uint64_t ticks_of(const PickleValue& entry)
    {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(entry.integer_of("time_us"), 0)) * 1000;
    }

    // The trace is a ring: blocks from before it are freed in it, or still stand in the segments.
    void find_ghosts()
    {
        std::set<DeviceAddress> seen;
        for (const auto& [value, device] : entries_) {
            const std::string_view action = value->text_of("action");
            const DeviceAddress place{device, unsigned_of(*value, "addr")};
            const auto kind = kind_of(pytorch_actions, action);
            const bool is_free = kind == EventKind::free || kind == EventKind::free_requested;
            if ((is_free || kind == EventKind::malloc) && seen.insert(place).second && is_free) {
                add_ghost(place, unsigned_of(*value, "size"), unsigned_of(*value, "stream"));
            }
        }
        for_each_active([&](const DeviceAddress& place, const PickleValue& block, const PickleValue& segment) {
            if (seen.insert(place).second) {
                const std::uint64_t asked = unsigned_of(block, "requested_size");
                add_ghost(place, as_requested_ && asked != 0 ? asked : unsigned_of(block, "size"),
                          unsigned_of(segment, "stream"), stacks_.of(block));
            }
        });
    }

    // Calls visit(place, block, segment) for each block that is live at the snapshot.
    template <typename Visit>
    void for_each_active(Visit visit) const
    {
        for (const PickleValue* segment : segments()) {
            std::uint64_t address = unsigned_of(*segment, "address");
            const auto device = static_cast<std::uint32_t>(segment->integer_of("device"));
            for (const PickleValue* block : segment->items_of("blocks")) {
                address = block->get("address") != nullptr ? unsigned_of(*block, "address") : address;
                if (starts_active(*block)) {
                    visit(DeviceAddress{device, address}, *block, *segment);
                }
                address += unsigned_of(*block, "size");
            }
        }
    }

    // The ring and the segments do not always count alike: a block of the segments has what was asked for beside what
    // it takes, or, in older snapshots, only the latter; an entry of the ring has one of the two. Blocks from before
    // the ring and those in it shall have one unit: what was asked for, where the snapshot tells it of all.
    void choose_unit()
    {
        std::map<DeviceAddress, std::uint64_t> last;  // sizes in the ring
        bool are_whole_grains = true;
        for (const auto& [value, device] : entries_) {
            if (kind_of(pytorch_actions, value->text_of("action")) == EventKind::malloc) {
                last[{device, unsigned_of(*value, "addr")}] = unsigned_of(*value, "size");
                are_whole_grains = are_whole_grains && unsigned_of(*value, "size") % grain_bytes == 0;
            }
        }
        std::size_t as_asked = 0;
        std::size_t as_taken = 0;
        bool tells_all = true;
        for_each_active([&](const DeviceAddress& place, const PickleValue& block, const PickleValue& /*segment*/) {
            const auto in_ring = last.find(place);
            const std::uint64_t asked = unsigned_of(block, "requested_size");
            tells_all = tells_all && (asked != 0 || in_ring != last.end());
            if (in_ring != last.end() && asked != 0 && asked != unsigned_of(block, "size")) {
                as_asked += in_ring->second == asked ? 1U : 0U;
                as_taken += in_ring->second == unsigned_of(block, "size") ? 1U : 0U;
            }
        });
        const bool ring_is_rounded = as_taken > as_asked || (as_asked == 0 && !last.empty() && are_whole_grains);
        as_requested_ = tells_all && !ring_is_rounded;
        sink_->state_fact(sizes_fact,
                          as_requested_ ? "as requested" : "rounded up to 512 B, as PyTorch hands them out");
    }

    [[nodiscard]] std::uint64_t in_unit(std::uint64_t size) const
    {
        const std::uint64_t over = size % grain_bytes;
        return as_requested_ || over == 0 ? size : base::saturating_add(size, grain_bytes - over);
    }

    // What is live at the snapshot by its segments, beside what the events leave.
    void state_totals()
    {
        if (segments().empty()) {
            return;
        }
        std::uint64_t blocks = 0;
        std::uint64_t bytes = 0;
        for_each_active([&](const DeviceAddress& /*place*/, const PickleValue& block, const PickleValue& /*segment*/) {
            ++blocks;
            bytes = base::saturating_add(bytes, unsigned_of(block, "requested_size"));
        });
        const Totals totals = sink_->accounting().totals();
        sink_->state_total("blocks live at the snapshot", blocks, totals.end_live_blocks);
        if (as_requested_) {
            sink_->state_total("bytes live at the snapshot", bytes, totals.end_live_bytes);
        }
    }

    void add_ghost(const DeviceAddress& block, std::uint64_t size, std::uint64_t stream, std::uint32_t stack = 0)
    {
        name_device(block.first);
        sink_->count_ghost();
        sink_->add({.kind = EventKind::malloc,
                    .space = block.first,
                    .stream = stream,
                    .address = block.second,
                    .size = in_unit(size),
                    .ticks = first_ticks_,
                    .stack = stack});
    }

    void name_device(std::uint32_t device)
    {
        if (named_.insert(device).second) {
            sink_->define_space(device, SpaceKind::device, device, "device");
        }
    }

    void add(const Entry& entry, std::uint64_t number)
    {
        const std::string_view action = entry.value->text_of("action");
        Event event{.space = entry.device,
                    .stream = unsigned_of(*entry.value, "stream"),
                    .address = unsigned_of(*entry.value, "addr"),
                    .size = unsigned_of(*entry.value, "size"),
                    .ticks = ticks_of(*entry.value)};
        if (action == "alloc") {
            event.size = in_unit(event.size);
        }
        if (action == "snapshot") {
            return;
        }
        const auto kind = kind_of(pytorch_actions, action);
        if (!kind) {
            sink_->bad(number, "unknown action");
            return;
        }
        set_kind(event, *kind);
        event.stack = takes_stack(*kind, event.address) ? stacks_.of(*entry.value) : 0;
        name_device(entry.device);
        sink_->add(event);
    }

    const PickleValue* root_;
    ImportSink* sink_;
    SnapshotStacks stacks_;
    std::vector<Entry> entries_;
    std::set<std::uint32_t> named_;
    std::uint64_t first_ticks_{};
    bool as_requested_{};  // sizes are what was asked for, not what PyTorch rounds it up to
};

base::Expected<void> import_pytorch(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    const Pickle pickle = MEMSWEEP_TRY(read_pickle(log, options.name));
    sink.hold(pickle.held());
    const PickleValue& root = *pickle.root;
    if (root.kind != PickleValue::Kind::list &&
        (root.get("segments") == nullptr && root.get("device_traces") == nullptr)) {
        return base::fail(base::ErrorCode::invalid_input, "a pickle, but not a snapshot of PyTorch's memory",
                          options.name);
    }
    if (!Snapshot{root, sink}.import(pickle.values.size())) {
        return base::fail(base::ErrorCode::invalid_input,
                          "the snapshot refers to its entries more often than it has them: PyTorch writes none such",
                          options.name);
    }
    return {};
}

}  // namespace

constinit const ImportFormat pytorch_format{"pytorch", "PyTorch's torch.cuda.memory._dump_snapshot, pickle", ns_ticks,
                                            is_pytorch, import_pytorch};

}  // namespace memsweep::trace
