#include "core/trace/summary.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/text.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/thread_stacks.hpp"

namespace memsweep::trace {
namespace {

std::size_t place_of(std::uint64_t value)
{
    return static_cast<std::size_t>(std::bit_width(value));
}

std::uint64_t count_in(const Facts& facts, const std::string& name)
{
    const auto fact = facts.find(name);
    return fact == facts.end() ? 0 : base::parse_number(fact->second).value_or(0);
}

void take_stated_totals(TraceSummary& summary)
{
    const std::string_view prefix = stated_fact;
    for (const auto& [name, value] : summary.facts) {
        if (name.starts_with(prefix)) {
            std::string_view imported = value;
            const auto stated = base::parse_number(base::take_until(imported, ' '));
            summary.stated_totals.push_back(
                {name.substr(prefix.size()), stated.value_or(0), base::parse_number(imported).value_or(0)});
        }
    }
    std::erase_if(summary.facts, [&](const auto& fact) { return fact.first.starts_with(prefix); });
}

// Modules of the same file are one, whatever process they are of, and wherever they lay.
class ModuleFiles {
  public:
    ModuleFiles(const ProgramNotes& notes, const Facts& facts)
    {
        files_.emplace_back();
        for (const NotedModule& noted : notes.modules()) {
            const auto server = facts.find(std::string{server_fact} + std::to_string(noted.image.process));
            const bool serves = server != facts.end() && noted.module.path.ends_with(server->second);
            const auto [number, is_new] = numbers_.try_emplace({std::string{noted.module.path}, serves}, files_.size());
            if (is_new) {
                files_.push_back({.path = std::string{noted.module.path}, .is_allocator = serves});
            }
            of_module_.push_back(number->second);
        }
    }
    // Of Event::module; 0: not known.
    [[nodiscard]] std::uint32_t number_of(std::uint32_t module) const
    {
        return module == 0 ? 0 : static_cast<std::uint32_t>(of_module_[module - 1]);
    }
    [[nodiscard]] std::vector<MappingModule> with(const std::vector<MappedFigures>& mapped)
    {
        std::vector<MappingModule> found;
        for (std::size_t number = 0; number < mapped.size(); ++number) {
            if (mapped[number].mappings != 0) {
                found.push_back(std::move(files_[number]));
                found.back().mapped = mapped[number];
                found.back().mapped.end_bytes =
                    base::saturating_add(mapped[number].end_bytes, mapped[number].live_bytes);
            }
        }
        std::ranges::stable_sort(found, std::greater{}, [](const MappingModule& one) { return one.mapped.peak_bytes; });
        return found;
    }

  private:
    std::vector<MappingModule> files_;
    std::map<std::pair<std::string, bool>, std::size_t> numbers_;
    std::vector<std::size_t> of_module_;
};

// What each process has of the accounting's counts, event by event.
class ProcessAccounts {
  public:
    // `before` and `live_before` are the accounting's just before the event.
    void add(const Event& event, const Totals& before, std::uint64_t live_before, const Accounting& after)
    {
        const Totals& counts = after.counts();
        ProcessSummary& process = account_of(event, counts.events);
        ++process.events;
        process.last_event = counts.events;
        process.last_ticks = std::max(process.last_ticks, event.ticks);
        process.allocations += counts.allocations - before.allocations;
        process.frees += counts.frees - before.frees;
        process.bytes_allocated += counts.bytes_allocated - before.bytes_allocated;
        if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            process.end_live_bytes += live_before - after.live_bytes();
        }
        process.live_bytes += after.live_bytes() - live_before;  // modulo 2^64 where it is less
        process.peak_live_bytes = std::max(process.peak_live_bytes, process.live_bytes);
        history_.add(event.ticks, {event.process, process.live_bytes}, after.live_bytes());
    }

    void finish(const Accounting& accounting, TraceSummary& summary)
    {
        for (const auto& [process, thread] : accounting.threads()) {
            ++processes_[index_.at(process)].threads;
        }
        for (ProcessSummary& process : processes_) {
            process.end_live_bytes += process.live_bytes;
            const auto program = summary.facts.find(std::string{program_fact} + std::to_string(process.process));
            const auto heap = summary.facts.find(std::string{heap_pages_fact} + std::to_string(process.process));
            process.heap_pages_bytes =
                heap == summary.facts.end() ? 0 : std::strtoull(heap->second.c_str(), nullptr, 10);
            const auto server = summary.facts.find(std::string{server_fact} + std::to_string(process.process));
            process.malloc_from = server == summary.facts.end() ? std::string{} : server->second;
            process.program = program == summary.facts.end() ? std::string{} : program->second;
        }
        summary.processes = std::move(processes_);
        summary.live = std::move(history_);
        std::erase_if(summary.facts, [](const auto& fact) {
            return fact.first.starts_with(program_fact) || fact.first.starts_with(heap_pages_fact) ||
                   fact.first.starts_with(server_fact);
        });
        summary.unrecorded = take_unrecorded(summary.facts);
    }

  private:
    ProcessSummary& account_of(const Event& event, std::uint64_t number)
    {
        const auto [found, is_new] = index_.try_emplace(event.process, processes_.size());
        if (is_new) {
            processes_.push_back({.process = event.process, .first_event = number, .first_ticks = event.ticks});
        }
        return processes_[found->second];
    }

    std::vector<ProcessSummary> processes_;
    std::map<std::uint32_t, std::size_t> index_;
    LiveHistory history_;
};

std::optional<EndOfWorkTotals> totals_at_mark(TraceReader& reader)
{
    const auto mark = reader.end_mark();
    if (!mark) {
        return std::nullopt;
    }
    EndOfWorkTotals totals{.sign = mark->sign, .ticks = mark->cut.ticks};
    BlockWalk walk;
    Event event;
    reader.read_until(mark->cut);
    while (reader.next(event)) {
        if (event.kind == EventKind::define_space) {
            continue;
        }
        ++totals.events;
        walk.add(event);
        if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            // A sign that was seen when all had ended is of their ends: what they held then was live.
            const bool is_of_mark = event.kind == EventKind::process_exit && mark->cut.processes.empty();
            walk.end_process(event.process, [&](const LiveBlock& block) {
                totals.live_bytes += is_of_mark ? block.size : 0;
                totals.live_blocks += is_of_mark ? 1 : 0;
            });
        }
    }
    reader.read_to_end();
    totals.live_bytes += walk.live_bytes();
    totals.live_blocks += walk.live().count();
    return totals;
}

}  // namespace

void Accounting::add(const Event& event)
{
    if (event.kind == EventKind::define_space) {
        return;
    }
    ++totals_.events;
    if (last_thread_ != std::pair{event.process, event.thread}) {
        last_thread_ = {event.process, event.thread};
        threads_.insert(*last_thread_);
    }
    totals_.first_ticks = totals_.events == 1 ? event.ticks : totals_.first_ticks;
    totals_.last_ticks = std::max(totals_.last_ticks, event.ticks);
    switch (event.kind) {
    case EventKind::malloc:
    case EventKind::calloc:
    case EventKind::aligned_alloc:
    case EventKind::free:
        change_blocks(event);
        break;
    case EventKind::realloc:
        ++totals_.reallocations;
        change_blocks(event);
        break;
    case EventKind::failed_alloc:
        ++totals_.failures;
        break;
    case EventKind::copy:
    case EventKind::move:
        ++totals_.transfers;
        break;
    case EventKind::map:
        map(event);
        break;
    case EventKind::unmap:
        unmap(event);
        break;
    case EventKind::exec:
    case EventKind::process_exit:
        abandon(event.process);
        break;
    case EventKind::free_requested:
    case EventKind::external:
    case EventKind::external_end:
    case EventKind::thread_start:
    case EventKind::thread_exit:
    case EventKind::fork:
    case EventKind::label:
    case EventKind::define_space:
        break;
    }
}

void Accounting::change_blocks(const Event& event)
{
    const BlockWalk::Change change = walk_.add(event);
    totals_.unknown_frees += change.frees_unknown ? 1U : 0U;
    if (change.overflows) {
        overflow();
    }
    totals_.duplicate_allocations += change.replaced ? 1U : 0U;
    if (change.freed) {
        ++totals_.frees;
        ++lifetimes_[place_of(static_cast<std::uint32_t>(totals_.allocations) - born_[change.freed->tag])];
    }
    if (change.made) {
        ++totals_.allocations;
        totals_.bytes_allocated = base::saturating_add(totals_.bytes_allocated, event.size);
        totals_.max_size = std::max(totals_.max_size, event.size);
        totals_.peak_live_blocks = std::max<std::uint64_t>(totals_.peak_live_blocks, walk_.live().count());
        ++sizes_[place_of(event.size)];
        born_.resize(std::max<std::size_t>(born_.size(), std::size_t{change.made->tag} + 1));
        born_[change.made->tag] = static_cast<std::uint32_t>(totals_.allocations);
    }
}

void Accounting::abandon(std::uint32_t process)
{
    walk_.end_process(process, [this](const LiveBlock& block) {
        const auto sum = base::checked_add(abandoned_bytes_, block.size);
        if (!sum) {
            overflow();
        }
        abandoned_bytes_ = sum.value_or(abandoned_bytes_);
        ++abandoned_blocks_;
    });
    mapped_.remove_process(process, [this](std::uint64_t bytes, std::uint32_t module) {
        mapped_by_[module].end_bytes = base::saturating_add(mapped_by_[module].end_bytes, bytes);
        forget_mapping(bytes, module);
    });
}

void Accounting::overflow()
{
    totals_.impossible_event = totals_.impossible_event == 0 ? totals_.events : totals_.impossible_event;
}

void Accounting::forget_mapping(std::uint64_t bytes, std::uint32_t module)
{
    mapped_bytes_ -= bytes;
    mapped_by_[module].live_bytes -= bytes;
}

void Accounting::map(const Event& event)
{
    if (mapped_by_.size() <= event.module) {
        mapped_by_.resize(event.module + std::size_t{1});
    }
    const auto end = base::checked_add(event.address, event.size);
    const auto sum = base::checked_add(mapped_bytes_, event.size);
    if (!end || !sum) {
        overflow();
        return;
    }
    mapped_.insert({event.process, event.space, event.address}, event.size, event.module,
                   [this](std::uint64_t bytes, std::uint32_t module) { forget_mapping(bytes, module); });
    mapped_bytes_ += event.size;
    totals_.peak_mapped_bytes = std::max(totals_.peak_mapped_bytes, mapped_bytes_);
    MappedFigures& figures = mapped_by_[event.module];
    ++figures.mappings;
    figures.bytes = base::saturating_add(figures.bytes, event.size);
    figures.live_bytes += event.size;
    figures.peak_bytes = std::max(figures.peak_bytes, figures.live_bytes);
}

// Without a size, and beyond the end of addresses, all that begins there.
void Accounting::unmap(const Event& event)
{
    const MappedRanges::Place place{event.process, event.space, event.address};
    const auto forget = [this](std::uint64_t bytes, std::uint32_t module) { forget_mapping(bytes, module); };
    if (event.size == 0 || !base::checked_add(event.address, event.size)) {
        mapped_.remove_whole(place, forget);
    } else {
        mapped_.remove(place, event.size, forget);
    }
}

Totals Accounting::totals() const
{
    Totals totals = totals_;
    totals.threads = threads_.size();
    std::set<std::uint32_t> processes;
    for (const auto& [process, thread] : threads_) {
        processes.insert(process);
    }
    totals.processes = processes.size();
    totals.peak_live_bytes = walk_.peak_live_bytes();
    const auto end_live_bytes = base::checked_add(walk_.live_bytes(), abandoned_bytes_);
    if (!end_live_bytes && totals.impossible_event == 0) {
        totals.impossible_event = totals.events;
    }
    totals.end_live_bytes = end_live_bytes.value_or(0);
    totals.end_live_blocks = walk_.live().count() + abandoned_blocks_;
    return totals;
}

Facts stated_facts(const std::vector<StatedTotal>& totals)
{
    Facts facts;
    for (const StatedTotal& total : totals) {
        facts[stated_fact + total.what] = std::to_string(total.stated) + " " + std::to_string(total.imported);
    }
    return facts;
}

TraceSummary summarize(TraceReader& reader)
{
    TraceSummary summary;
    Accounting accounting;
    ProcessAccounts accounts;
    const ProgramNotes& notes = reader.read_notes();
    ModuleFiles files{notes, reader.facts()};
    ThreadStacks stacks{notes};
    Event event;
    std::uint64_t of_spaces = 0;
    while (reader.next(event) && reader.may_hold(accounting.held() + of_spaces)) {
        if (event.kind == EventKind::define_space) {
            summary.spaces[event.space] = {std::string{event.text}, event.space_kind, event.other};
            of_spaces += things_of_a_thread + event.text.size() / bytes_of_a_thing;
            continue;
        }
        event.module = files.number_of(event.module);
        stacks.add(event);
        const Totals before = accounting.counts();
        const std::uint64_t live_before = accounting.live_bytes();
        accounting.add(event);
        accounts.add(event, before, live_before, accounting);
        ++summary.by_kind[event.kind];
    }
    summary.totals = accounting.totals();
    summary.usable_sizes = notes.usable_sizes().size();
    summary.thread_stacks.threads = stacks.all().size();
    summary.thread_stacks.peak_bytes = stacks.peak_bytes();
    for (const ThreadStackState& one : stacks.all()) {
        summary.thread_stacks.bytes = base::saturating_add(summary.thread_stacks.bytes, one.stack.bytes);
    }
    if (notes.has_mappers()) {
        summary.mapped_by = files.with(accounting.mapped_by());
    }
    summary.sizes = accounting.sizes();
    summary.lifetimes = accounting.lifetimes();
    summary.facts = reader.facts();
    summary.damage = reader.damage();
    summary.ticks_per_second = reader.header().ticks_per_second;
    summary.bad_lines = count_in(summary.facts, bad_lines_fact);
    accounts.finish(accounting, summary);
    take_stated_totals(summary);
    if (reader.outcome()) {
        summary.end_of_work = totals_at_mark(reader);
    }
    return summary;
}

}  // namespace memsweep::trace
