#include "app/commands/explained_returns.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

using measure::MemoryCategory;
using reporters::Explanation;

// The pages that have lain in blocks: a replay makes these, and what its allocator needs for them.
std::uint64_t heap_bytes(const measure::MemoryLedger& ledger)
{
    constexpr std::array heap{MemoryCategory::live,  MemoryCategory::rounding,  MemoryCategory::headers,
                              MemoryCategory::holes, MemoryCategory::kept_free, MemoryCategory::huge_zero};
    std::uint64_t bytes = 0;
    for (const MemoryCategory category : heap) {
        bytes += ledger.bytes(category);
    }
    return bytes;
}

std::uint64_t weight_of(const measure::HeldBySite& site)
{
    return std::max({site.live, site.left_behind, site.pins_alone, site.pins_with_others});
}

std::string words_of(const reporters::ReplayCheck& check)
{
    return fmt::format("its replay holds {} of heap where the program held {}, and more than {:.0f} % apart says "
                       "nothing of it",
                       base::format_size(check.resident), base::format_size(check.measured + check.never_a_block),
                       reporters::ReplayCheck::most_off * 100);
}

reporters::HeapFigures figures_of(const engine::HeapAtEnd& heap)
{
    return {heap.held, heap.given_back};
}

std::vector<bool> nodes_of(const ReturnsBasis& basis, std::size_t site)
{
    std::vector<bool> nodes;
    nodes.reserve(basis.site_of_node.size());
    for (const std::uint32_t one : basis.site_of_node) {
        nodes.push_back(one == basis.site_numbers[site]);
    }
    return nodes;
}

base::Expected<void> replay_sites(Explanation& explanation, const ReturnsBasis& basis, std::uint32_t most_sites)
{
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds most_time{60};
    const std::uint64_t heap = heap_bytes(explanation.ledger);
    const std::uint64_t least = heap / 50;
    const Clock::time_point began = Clock::now();
    RemovalBasis removal = basis.removal;
    removal.allocator = MEMSWEEP_TRY(allocator_to_replay(basis.served_by, basis.environment));
    const sys::StopSignals signals;
    SiteRemoval replays{std::move(removal), signals};
    const reporters::HeapFigures whole = figures_of(MEMSWEEP_TRY(replays.without({})));
    explanation.replay_check = {.resident = static_cast<std::uint64_t>(std::max<std::int64_t>(whole.held, 0)),
                                .measured = heap,
                                .never_a_block = explanation.ledger.bytes(MemoryCategory::never_a_block)};
    if (!explanation.replay_check->is_usable()) {
        explanation.no_returns = words_of(*explanation.replay_check);
        return {};
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(explanation.sites.size(), most_sites); ++i) {
        reporters::ExplainedSite& site = explanation.sites[i];
        if (weight_of(site.figures) < least || Clock::now() - began > most_time) {
            break;
        }
        const reporters::HeapFigures rest = figures_of(MEMSWEEP_TRY(replays.without(nodes_of(basis, i))));
        site.without = reporters::site_return(whole, rest, SiteRemoval::runs);
    }
    return {};
}

}  // namespace

void take_returns(Explanation& explanation, const ReturnsBasis& basis, std::uint32_t most_sites)
{
    constexpr std::uint64_t least_heap = 1U << 20U;
    if (most_sites == 0) {
        return;
    }
    if (heap_bytes(explanation.ledger) < least_heap) {
        explanation.no_returns = fmt::format("its heap is smaller than {}", base::format_size(least_heap));
        return;
    }
    if (measure::does_not_see(explanation.ledger)) {
        explanation.no_returns = "its recording does not see its allocations";
        return;
    }
    if (const auto done = replay_sites(explanation, basis, most_sites); !done) {
        explanation.no_returns = reporters::inert_text(base::describe(done.error()));
    }
}

}  // namespace memsweep::app
