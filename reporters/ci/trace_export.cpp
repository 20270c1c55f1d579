#include "reporters/ci/trace_export.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/trace/bounds.hpp"
#include "core/trace/live_blocks.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

using trace::Event;
using trace::EventKind;

constexpr std::uint64_t ns_per_second = 1'000'000'000;

// Nanoseconds of an event; where stamps tell no time, one microsecond after the event before.
class Times {
  public:
    explicit Times(const trace::FileHeader& header) : header_{&header} {}
    std::uint64_t of(const Event& event)
    {
        if (header_->ticks_per_second == 0) {
            return next_ += 1000;
        }
        const std::uint64_t ticks = event.ticks - std::min(event.ticks, header_->start_ticks);
        return header_->start_unix_ns +
               static_cast<std::uint64_t>(base::uint128{ticks} * ns_per_second / header_->ticks_per_second);
    }

  private:
    const trace::FileHeader* header_;
    std::uint64_t next_{};
};

// Each process's memories, numbered in the order of their first event.
class Arenas {
  public:
    std::uint32_t of(std::uint32_t process, std::uint32_t space)
    {
        return indices_.try_emplace({process, space}, static_cast<std::uint32_t>(indices_.size())).first->second;
    }
    [[nodiscard]] std::size_t count() const { return indices_.size(); }
    static std::uint64_t address(std::uint32_t arena, std::uint64_t address)
    {
        return address ^ std::uint64_t{arena} << 56U;
    }

  private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> indices_;
};

class RmmRows {
  public:
    RmmRows(const trace::FileHeader& header, TextSink& sink) : times_{header}, sink_{&sink}
    {
        sink.add("Thread,Time,Action,Pointer,Size,Stream\n");
    }

    void add(const Event& event, const std::optional<trace::LiveBlock>& freed)
    {
        const std::uint64_t freed_bytes = freed ? freed->size : 0;
        if (is_allocation(event.kind)) {
            row(event, "allocate", event.address, event.size);
        } else if (event.kind == EventKind::free) {
            row(event, "free", event.address, freed_bytes);
        } else if (event.kind == EventKind::realloc) {
            if (event.old_address != 0) {
                row(event, "free", event.old_address, freed_bytes);
            }
            if (event.address != 0) {
                row(event, "allocate", event.address, event.size);
            }
        } else if (event.kind == EventKind::failed_alloc) {
            row(event, "allocate failure", 0, event.size);
        }
    }
    // Things, as core/trace/bounds.hpp counts them.
    [[nodiscard]] std::uint64_t held() const { return arenas_.count(); }

  private:
    void row(const Event& event, std::string_view action, std::uint64_t address, std::uint64_t size)
    {
        const std::uint64_t ns = times_.of(event);
        const std::uint64_t seconds = ns / ns_per_second;
        const std::uint64_t place = Arenas::address(arenas_.of(event.process, event.space), address);
        const std::string pointer = place == 0 ? "(nil)" : fmt::format("0x{:x}", place);
        sink_->print("{},{:02}:{:02}:{:02}.{:06},{},{},{},{}{:x}\n", event.thread, seconds / 3600 % 24,
                     seconds / 60 % 60, seconds % 60, ns % ns_per_second / 1000, action, pointer, size,
                     event.stream == 0 ? "" : "0x", event.stream);
    }

    Times times_;
    TextSink* sink_;
    Arenas arenas_;
};

class UmpireLines {
  public:
    UmpireLines(const trace::FileHeader& header, TextSink& sink) : times_{header}, sink_{&sink}
    {
        sink.add(R"({"category":"metadata","name":"version","numeric_args":{"major":2022,"minor":3,"patch":1},)"
                 R"("string_args":{"rc":""},"tags":{},"timestamp":0})"
                 "\n");
    }

    void add(const Event& event, const std::optional<trace::LiveBlock>& /*freed*/)
    {
        if (event.kind == EventKind::define_space) {
            names_[event.space] = event.text;
            of_names_ += trace::things_of_a_thread + event.text.size() / trace::bytes_of_a_thing;
            return;
        }
        now_ = times_.of(event);
        if (is_allocation(event.kind)) {
            line("allocate", sized(event.size), pointer(event, "pointer", event.address));
        } else if (event.kind == EventKind::free) {
            line("deallocate", "{}", pointer(event, "pointer", event.address));
        } else if (event.kind == EventKind::realloc) {
            line("reallocate", sized(event.size), pointer(event, "current_ptr", event.old_address));
            line("reallocate", "{}", pointer(event, "new_ptr", event.address));
        } else if (event.kind == EventKind::external) {
            line("register_external_allocation", sized(event.size), pointer(event, "pointer", event.address));
        } else if (event.kind == EventKind::external_end) {
            line("deregister_external_allocation", "{}", pointer(event, "pointer", event.address));
        } else if (event.kind == EventKind::copy) {
            copy(event);
        } else if (event.kind == EventKind::move) {
            line("move", "{}", pointer(event, "ptr", event.address));
        }
    }
    [[nodiscard]] std::uint64_t held() const { return of_names_ + arenas_.count(); }

  private:
    static std::string sized(std::uint64_t size) { return fmt::format(R"({{"size":{}}})", size); }

    // Allocators are announced before they are used.
    std::string reference(std::uint32_t process, std::uint32_t space)
    {
        const std::uint32_t arena = arenas_.of(process, space);
        std::string reference = fmt::format("0x{:x}", 0x10000 + std::uint64_t{arena} * 16);
        if (arena == announced_) {
            ++announced_;
            const auto name = names_.find(space);
            const Json shown = name == names_.end() || name->second.empty() ? "HOST" : name->second;
            sink_->print(
                R"({{"category":"operation","name":"make_memory_resource","numeric_args":{{"introspection":1}},)"
                R"("string_args":{{"allocator_ref":"{}"}},"tags":{{"allocator_name":{},"replay":"true"}},)"
                R"("timestamp":{}}})"
                "\n",
                reference, compact(shown), now_);
        }
        return reference;
    }
    [[nodiscard]] std::string place(std::uint32_t process, std::uint32_t space, std::uint64_t address)
    {
        const std::uint64_t shown = address == 0 ? 0 : Arenas::address(arenas_.of(process, space), address);
        return shown == 0 ? "0" : fmt::format("0x{:x}", shown);
    }
    std::string pointer(const Event& event, std::string_view key, std::uint64_t address)
    {
        return fmt::format(R"({{"allocator_ref":"{}","{}":"{}"}})", reference(event.process, event.space), key,
                           place(event.process, event.space, address));
    }
    void copy(const Event& event)
    {
        const std::string to = reference(event.process, event.space);
        const std::string from = reference(event.process, event.source_space);
        line("copy", fmt::format(R"({{"dst_offset":0,"size":{},"src_offset":0}})", event.size),
             fmt::format(R"({{"dst":"{}","dst_allocator_ref":"{}","src":"{}","src_allocator_ref":"{}"}})",
                         place(event.process, event.space, event.address), to,
                         place(event.process, event.source_space, event.old_address), from));
    }
    void line(std::string_view name, const std::string& numbers, const std::string& texts)
    {
        sink_->print(
            R"({{"category":"operation","name":"{}","numeric_args":{},"string_args":{},"tags":{{"replay":"true"}},"timestamp":{}}})"
            "\n",
            name, numbers, texts, now_);
    }

    Times times_;
    TextSink* sink_;
    Arenas arenas_;
    std::map<std::uint32_t, std::string> names_;
    std::uint64_t of_names_{};  // things
    std::uint32_t announced_{};
    std::uint64_t now_{};
};

// Frees what a process still held when it ended or became another program: neither format has such an end, and a reader
// of the log would count the blocks for ever. The frees stand before the next event, so what is live when all ends
// stays.
class FreesOfTheEnded {
  public:
    // Takes the blocks from the walk.
    void take(const Event& end, trace::BlockWalk& blocks)
    {
        std::vector<Held> held;
        blocks.end_process(end.process, [&](const trace::BlockKey& key, const trace::LiveBlock& block) {
            held.push_back({key.space, key.address, block.size});
        });
        std::ranges::sort(held, {}, [](const Held& one) { return std::pair{one.space, one.address}; });
        held_ += held.size();
        ended_.push_back({end, std::move(held)});
    }
    void put(auto& lines)
    {
        for (const auto& [end, held] : ended_) {
            for (const Held& one : held) {
                lines.add({.kind = EventKind::free,
                           .process = end.process,
                           .thread = end.thread,
                           .space = one.space,
                           .address = one.address,
                           .ticks = end.ticks},
                          trace::LiveBlock{.size = one.size});
            }
        }
        ended_.clear();
        held_ = 0;
    }
    // Things, as core/trace/bounds.hpp counts them.
    [[nodiscard]] std::uint64_t held() const { return held_ + trace::things_of_a_thread * ended_.size(); }

  private:
    struct Held {
        std::uint32_t space{};
        std::uint64_t address{};
        std::uint64_t size{};
    };
    struct Ended {
        Event end;
        std::vector<Held> held;
    };
    std::vector<Ended> ended_;
    std::uint64_t held_{};
};

template <typename Lines>
base::Expected<void> export_as(trace::TraceReader& reader, TextSink& sink, const std::string& name)
{
    const trace::FileHeader header = reader.header();
    Lines lines{header, sink};
    trace::BlockWalk blocks;
    FreesOfTheEnded of_ended;
    std::uint64_t number = 0;
    Event event;
    while (reader.next(event) && reader.may_hold(lines.held() + blocks.live().count() + of_ended.held())) {
        number += event.kind == EventKind::define_space ? 0 : 1;
        if (event.kind == EventKind::process_exit || event.kind == EventKind::exec) {
            of_ended.take(event, blocks);
            continue;
        }
        of_ended.put(lines);
        const trace::BlockWalk::Change change = blocks.add(event);
        MEMSWEEP_TRY(trace::possible_total(change.overflows ? number : 0, name));
        lines.add(event, change.freed);
    }
    return {};
}

}  // namespace

base::Expected<void> export_rmm(trace::TraceReader& reader, TextSink& sink, const std::string& name)
{
    return export_as<RmmRows>(reader, sink, name);
}

base::Expected<void> export_umpire(trace::TraceReader& reader, TextSink& sink, const std::string& name)
{
    return export_as<UmpireLines>(reader, sink, name);
}

}  // namespace memsweep::reporters
