#include "core/trace/import/import.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.hpp"
#include "core/trace/stacks.hpp"

namespace memsweep::trace {

// In the order in which logs are recognised: the formats that are harder to mistake come first.
std::span<const ImportFormat> import_formats()
{
    static const std::array formats{
        rmm_format,       umpire_format,   pytorch_format,      heaptrack_format,  mtrace_format,
        dj_mtrace_format, valgrind_format, malloc_bench_format, fleetbench_format,
    };
    return formats;
}

std::optional<EventKind> kind_of(std::span<const LoggedAction> actions, std::string_view name)
{
    const auto found = std::ranges::find(actions, name, &LoggedAction::name);
    return found == actions.end() ? std::nullopt : std::optional{found->kind};
}

void set_kind(Event& event, EventKind kind)
{
    event.kind = kind;
    if (kind == EventKind::free || kind == EventKind::free_requested) {
        event.size = 0;
    } else if (kind == EventKind::failed_alloc) {
        event.address = 0;
    }
}

void ImportSink::hold(std::uint64_t things)
{
    held_by_importer_ = things;
    if (log_ != nullptr) {
        log_->may_hold(held_by_importer_ + accounting_.held());
    }
}

void ImportSink::add(Event event)
{
    if (log_ != nullptr && !log_->may_hold(held_by_importer_ + accounting_.held())) {
        return;
    }
    const bool is_failed = event.address == 0 && event.size != 0;
    if (is_failed && (is_allocation(event.kind) || event.kind == EventKind::realloc)) {
        event.kind = EventKind::failed_alloc;
        event.old_address = 0;
        event.alignment = 0;
    }
    writer_->add(event);
    accounting_.add(event);
}

std::uint32_t ImportSink::stack(std::uint32_t caller, std::uint64_t address)
{
    StackWriter& stacks = writer_->stacks();
    const bool has_room = log_ == nullptr || held_by_importer_ + accounting_.held() + stacks.held() < log_->most_held();
    if (!has_room) {
        state_fact(stacks_fact, "in part: there are more than a log of this size may have");
        return caller;
    }
    facts_.try_emplace(stacks_fact, "full");
    return stacks.node(caller, address);
}

void ImportSink::name_address(std::uint64_t address, std::string_view module, std::span<const SourceFrame> frames)
{
    writer_->stacks().name(address, module, frames);
}

void ImportSink::define_space(std::uint32_t space, SpaceKind kind, std::uint32_t device, std::string_view name)
{
    add({.kind = EventKind::define_space, .space_kind = kind, .space = space, .other = device, .text = name});
}

void ImportSink::bad(std::uint64_t number, std::string_view reason)
{
    ++bad_lines_;
    if (first_bad_lines_.size() < named_bad_lines) {
        first_bad_lines_.push_back({number, std::string{reason}});
    }
}

base::Expected<const ImportFormat*> find_import_format(std::string_view name, std::string_view head,
                                                       const std::string& log_name)
{
    if (head.starts_with(std::string_view{"SQLite format 3\0", 16})) {
        return base::fail(base::ErrorCode::invalid_input, "SQLite event store; export to JSON first", log_name);
    }
    std::vector<std::string_view> names;
    for (const ImportFormat& format : import_formats()) {
        if (name.empty() ? format.looks_like(head) : format.name == name) {
            return &format;
        }
        names.push_back(format.name);
    }
    if (name.empty()) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("not a log that memsweep recognises ({}); --format chooses one", fmt::join(names, ", ")),
            log_name);
    }
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("unknown format \"{}\"{}", name, base::suggestion(name, names)), "--format");
}

base::Expected<void> import_log(const ImportFormat& format, LogText& log, ImportSink& sink,
                                const ImportOptions& options)
{
    const std::string head{log.peek(log_head_bytes)};
    sink.watch(log);
    const auto imported = format.import(log, sink, options);
    if (log.failure()) {
        return base::fail(*log.failure());
    }
    MEMSWEEP_TRY(imported);
    const Totals totals = sink.accounting().totals();
    if (totals.events == 0 && (sink.bad_lines() != 0 || !format.looks_like(head))) {
        std::vector<std::string_view> likely;
        std::vector<std::string_view> all;
        for (const ImportFormat& other : import_formats()) {
            if (other.name != format.name) {
                all.push_back(other.name);
                if (other.looks_like(head)) {
                    likely.push_back(other.name);
                }
            }
        }
        const std::string reason =
            sink.first_bad_lines().empty()
                ? std::string{}
                : fmt::format(" (line {}: {})", sink.first_bad_lines()[0].number, sink.first_bad_lines()[0].reason);
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("no event in it as {} writes them{}; --format chooses another: {} {}",
                                      format.name, reason, likely.empty() ? "one of" : "it looks like",
                                      fmt::join(likely.empty() ? all : likely, ", ")),
                          options.name);
    }
    return possible_total(totals.impossible_event, options.name);
}

}  // namespace memsweep::trace
