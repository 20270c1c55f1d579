#include "core/trace/symbols/call_sites.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/trace/symbols/function_names.hpp"

namespace memsweep::trace {
namespace {

// Of each node the frame that is its site, found from the callers' on: a stack is as deep as it likes.
class SitePlaces {
  public:
    SitePlaces(const StackTable& table, Symbolizer& symbolizer) : program_(table.count()), other_(table.count())
    {
        for (std::uint32_t node = 1; node < table.count(); ++node) {
            take(node, table.node(node).parent, symbolizer.at(node));
        }
    }

    // Empty for node 0.
    [[nodiscard]] ResolvedFrame of(std::uint32_t node) const
    {
        const ResolvedFrame* const frame = program_[node] != nullptr ? program_[node] : other_[node];
        return frame == nullptr ? ResolvedFrame{} : *frame;
    }

  private:
    void take(std::uint32_t node, std::uint32_t caller, std::span<const ResolvedFrame> frames)
    {
        program_[node] = program_[caller];
        other_[node] = other_[caller];
        bool has_other = other_[caller] != nullptr;
        for (std::size_t i = frames.size(); i-- > 0;) {
            if (frames[i].is_interpreted) {
                program_[node] = &frames[i];
            }
            if (program_[node] != nullptr && program_[node]->is_interpreted) {
                continue;
            }
            const FunctionRole role = role_of(frames[i].function);
            program_[node] = role == FunctionRole::program ? &frames[i] : program_[node];
            if (role != FunctionRole::allocator || !has_other) {
                other_[node] = &frames[i];
                has_other = role != FunctionRole::allocator || has_other;
            }
        }
    }

    std::vector<const ResolvedFrame*> program_;  // the innermost of the program's own, or nullptr
    std::vector<const ResolvedFrame*> other_;    // the innermost outside the allocator, or else the innermost
};

using PlaceKey = std::tuple<std::string_view, std::string_view, std::uint32_t, std::string_view>;
using GroupKey = std::pair<PlaceKey, std::uint32_t>;  // and its process; 0: of all

PlaceKey key_of(const ResolvedFrame& place, SiteKind by)
{
    switch (by) {
    case SiteKind::function:
        return {place.function, {}, 0, {}};
    case SiteKind::file:
        return {{}, place.file, 0, place.file.empty() ? place.module : std::string_view{}};
    case SiteKind::site:
    case SiteKind::thread:
    case SiteKind::size:
        break;
    }
    return {place.function, place.file, place.line, {}};
}

struct Groups {
    std::vector<std::uint32_t> of;  // by node
    std::vector<ResolvedFrame> places;
    std::vector<std::uint32_t> processes;
};

Groups group(const StackTable& table, const SitePlaces& places, const SiteQuery& query)
{
    Groups groups;
    std::map<GroupKey, std::uint32_t> numbers;
    for (std::uint32_t node = 0; node < table.count(); ++node) {
        const ResolvedFrame place = places.of(node);
        const std::uint32_t process = query.by_process && node != 0 ? table.image_of(node).process : 0;
        const auto [at, is_new] =
            numbers.try_emplace({key_of(place, query.by), process}, static_cast<std::uint32_t>(groups.places.size()));
        if (is_new) {
            groups.places.push_back(place);
            groups.processes.push_back(process);
        }
        groups.of.push_back(at->second);
    }
    return groups;
}

bool has_any(const AllocationFigures& figures)
{
    return figures.allocations != 0 || figures.end_blocks != 0;
}

bool share_places(const StackTable& table, const StackImage& image)
{
    std::vector<LoadedModule> modules = table.modules(image);
    std::ranges::sort(modules, {}, &LoadedModule::begin);
    return std::ranges::adjacent_find(modules, [](const LoadedModule& one, const LoadedModule& next) {
               return next.begin - one.begin < one.size;
           }) != modules.end();
}

bool has_no_allocation(TraceReader& reader)
{
    Event event;
    bool has_one = false;
    while (!has_one && reader.next(event)) {
        has_one = is_allocation(event.kind) || (event.kind == EventKind::realloc && event.address != 0);
    }
    reader.rewind();
    return !has_one;
}

}  // namespace

std::uint64_t figure_of(const AllocationFigures& figures, SiteOrder order)
{
    switch (order) {
    case SiteOrder::peak:
        return figures.peak_bytes;
    case SiteOrder::allocated:
        return figures.bytes_allocated;
    case SiteOrder::end:
        return figures.end_bytes;
    case SiteOrder::count:
        return figures.allocations;
    case SiteOrder::temporary:
        return figures.temporary;
    }
    return 0;
}

StackSites sites_of_stacks(const StackTable& table, Symbolizer& symbolizer)
{
    Groups groups = group(table, SitePlaces{table, symbolizer}, {.by = SiteKind::site});
    return {std::move(groups.of), std::move(groups.places)};
}

std::vector<std::uint64_t> first_uses_of(TraceReader& reader, const StackTable& table)
{
    std::set<StackImage> images;
    for (std::uint32_t node = 1; node < table.count(); ++node) {
        if (table.node(node).parent == 0) {
            images.insert(table.image_of(node));
        }
    }
    if (std::ranges::none_of(images, [&](const StackImage& image) { return share_places(table, image); })) {
        return {};
    }
    std::vector<std::uint64_t> uses(table.count(), ~0ULL);
    Event event;
    while (reader.next(event)) {
        uses[event.stack] = std::min(uses[event.stack], event.ticks);
    }
    reader.rewind();
    for (std::uint32_t node = table.count(); node-- > 1;) {
        std::uint64_t& callers = uses[table.node(node).parent];
        callers = std::min(callers, uses[node]);
    }
    return uses;
}

Symbolizer symbolizer_of(TraceReader& reader, const StackTable& table, DebugFiles files)
{
    constexpr std::uint64_t ns_per_second = 1'000'000'000;
    return Symbolizer{table, first_uses_of(reader, table),
                      static_cast<std::int64_t>(reader.header().start_unix_ns / ns_per_second), files};
}

base::Expected<void> require_stacks(TraceReader& reader, const std::string& name)
{
    const bool has_none = !reader.has_stacks();
    if (has_none && !(reader.facts().contains(stacks_fact) && has_no_allocation(reader))) {
        const auto taken = reader.facts().find(stacks_fact);
        if (const auto every = taken == reader.facts().end() ? std::nullopt : base::parse_number(taken->second)) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("has stacks of a sample, one in {}, and no block is in it: record it with a "
                                          "smaller --stacks=SIZE, or with --stacks",
                                          base::exact_size(*every)),
                              name);
        }
        return base::fail(base::ErrorCode::invalid_input,
                          "was recorded without stacks, and cannot tell who allocates; `memsweep record --stacks` "
                          "takes them (`memsweep info --by thread` and `--by size` need none)",
                          name);
    }
    return {};
}

base::Expected<CallSites> CallSites::of(TraceReader& reader, const SiteQuery& query, const std::string& name)
{
    CallSites result;
    result.query_ = query;
    const bool needs_stacks = query.by != SiteKind::thread && query.by != SiteKind::size;
    if (needs_stacks) {
        MEMSWEEP_TRY(require_stacks(reader, name));
        result.table_ = &reader.read_stacks();
        result.symbolizer_ = std::make_unique<Symbolizer>(symbolizer_of(reader, *result.table_, query.debug_files));
        const Groups groups = group(*result.table_, SitePlaces{*result.table_, *result.symbolizer_}, query);
        CountedAllocations counted = count_allocations(reader, CountedBy::stack, groups.of);
        result.total_ = counted.total;
        result.sampling_ = counted.sampling;
        result.has_exact_callers_ = counted.has_exact_callers;
        result.impossible_event_ = counted.impossible_event;
        counted.groups.resize(groups.places.size());  // the last may have nothing
        counted.estimated_own_peaks.resize(groups.places.size());
        for (std::size_t i = 0; i < groups.places.size(); ++i) {
            result.sites_.push_back({.place = groups.places[i],
                                     .thread = {.process = groups.processes[i], .thread = 0},
                                     .figures = counted.groups[i],
                                     .has_estimated_own_peak = counted.estimated_own_peaks[i]});
        }
        for (std::uint32_t node = 1; node < counted.of.size(); ++node) {
            CallSite& site = result.sites_[groups.of[node]];
            const std::uint64_t had = site.stack == 0 ? 0 : figure_of(counted.of[site.stack], query.order);
            const std::uint64_t has = figure_of(counted.of[node], query.order);
            site.stack = has > had || (site.stack == 0 && has_any(counted.of[node])) ? node : site.stack;
        }
        result.of_stacks_ = std::move(counted.of);
    } else {
        const bool by_thread = query.by == SiteKind::thread;
        const CountedAllocations counted = count_allocations(reader, by_thread ? CountedBy::thread : CountedBy::size);
        result.total_ = counted.total;
        result.impossible_event_ = counted.impossible_event;
        for (std::size_t i = 0; i < counted.of.size(); ++i) {
            result.sites_.push_back({.thread = by_thread ? counted.threads[i] : ThreadName{},
                                     .size = by_thread ? 0 : counted.sizes[i],
                                     .figures = counted.of[i]});
        }
    }
    std::erase_if(result.sites_, [](const CallSite& site) { return !has_any(site.figures); });
    std::ranges::stable_sort(result.sites_, std::greater{}, [&](const CallSite& site) {
        return std::tuple{figure_of(site.figures, query.order), site.figures.bytes_allocated, site.figures.allocations};
    });
    return result;
}

std::vector<ResolvedFrame> CallSites::stack_of(const CallSite& site) const
{
    std::vector<ResolvedFrame> stack;
    for (std::uint32_t node = site.stack; node != 0 && stack.size() < most_frames_shown;
         node = table_->node(node).parent) {
        const auto frames = symbolizer_->at(node);
        stack.insert(stack.end(), frames.begin(), frames.end());
    }
    return stack;
}

CallTree CallSites::tree() const
{
    return table_ == nullptr ? CallTree{} : CallTree{*table_, *symbolizer_, of_stacks_};
}

const std::set<std::string>& CallSites::notes() const noexcept
{
    static const std::set<std::string> none;
    return symbolizer_ ? symbolizer_->notes() : none;
}

}  // namespace memsweep::trace
