#include <algorithm>
#include <array>
#include <set>

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

class Snapshot {
  public:
    Snapshot(const PickleValue& root, ImportSink& sink) : root_{&root}, sink_{&sink} {}

    void import()
    {
        order_entries();
        find_ghosts();
        std::uint64_t number = 0;
        for (const Entry& entry : entries_) {
            add(entry, ++number);
        }
    }

  private:
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
        const bool is_list = root_->kind == PickleValue::Kind::list;  // as torch.cuda.memory_snapshot() gives it
        for (const PickleValue* segment : is_list ? root_->items : root_->items_of("segments")) {
            find_ghosts_in(*segment, seen);
        }
    }

    void find_ghosts_in(const PickleValue& segment, std::set<DeviceAddress>& seen)
    {
        std::uint64_t address = unsigned_of(segment, "address");
        const auto device = static_cast<std::uint32_t>(segment.integer_of("device"));
        for (const PickleValue* block : segment.items_of("blocks")) {
            const std::uint64_t size = unsigned_of(*block, "size");
            address = block->get("address") != nullptr ? unsigned_of(*block, "address") : address;
            if (starts_active(*block) && seen.insert({device, address}).second) {
                add_ghost({device, address}, size, unsigned_of(segment, "stream"));
            }
            address += size;
        }
    }

    void add_ghost(const DeviceAddress& block, std::uint64_t size, std::uint64_t stream)
    {
        name_device(block.first);
        sink_->count_ghost();
        sink_->add({.kind = EventKind::malloc,
                    .space = block.first,
                    .stream = stream,
                    .address = block.second,
                    .size = size,
                    .ticks = first_ticks_});
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
        if (action == "snapshot") {
            return;
        }
        const auto kind = kind_of(pytorch_actions, action);
        if (!kind) {
            sink_->bad(number, "unknown action");
            return;
        }
        set_kind(event, *kind);
        name_device(entry.device);
        sink_->add(event);
    }

    const PickleValue* root_;
    ImportSink* sink_;
    std::vector<Entry> entries_;
    std::set<std::uint32_t> named_;
    std::uint64_t first_ticks_{};
};

base::Expected<void> import_pytorch(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    const auto pickle = read_pickle(log, options.name);
    if (!pickle) {
        return base::fail(pickle.error());
    }
    const PickleValue& root = *pickle->root;
    if (root.kind != PickleValue::Kind::list &&
        (root.get("segments") == nullptr && root.get("device_traces") == nullptr)) {
        return base::fail(base::ErrorCode::invalid_input, "a pickle, but not a snapshot of PyTorch's memory",
                          options.name);
    }
    Snapshot{root, sink}.import();
    return {};
}

}  // namespace

constinit const ImportFormat pytorch_format{"pytorch", "PyTorch's torch.cuda.memory._dump_snapshot, pickle", ns_ticks,
                                            is_pytorch, import_pytorch};

}  // namespace memsweep::trace
