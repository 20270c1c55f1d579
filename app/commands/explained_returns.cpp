#include "app/commands/explained_returns.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/site_return.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/wording/return_words.hpp"

namespace memsweep::app {
namespace {

using reporters::Explanation;

std::uint64_t weight_of(const measure::HeldBySite& site)
{
    return std::max({site.live, site.left_behind, site.pins_alone, site.pins_with_others});
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
    const std::uint64_t least = measure::heap_bytes(explanation.ledger) / 50;
    const Clock::time_point began = Clock::now();
    RemovalBasis removal = basis.removal;
    removal.allocator = MEMSWEEP_TRY(allocator_to_replay(basis.served_by, basis.environment));
    const sys::StopSignals signals;
    SiteRemoval replays{std::move(removal), signals};
    const measure::ReplayedHeap whole = MEMSWEEP_TRY(replays.without({}));
    const measure::TriedRequest& tried = explanation.tried;
    explanation.replay_check = measure::replay_check(whole, explanation.ledger,
                                                     tried.was_tried() ? std::optional{tried.returned} : std::nullopt);
    if (!explanation.replay_check->is_usable()) {
        explanation.no_returns = reporters::unusable_text(*explanation.replay_check);
        return {};
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(explanation.sites.size(), most_sites); ++i) {
        reporters::ExplainedSite& site = explanation.sites[i];
        if (weight_of(site.figures) < least || Clock::now() - began > most_time) {
            break;
        }
        const measure::ReplayedHeap rest = MEMSWEEP_TRY(replays.without(nodes_of(basis, i)));
        site.without = measure::site_return(whole, rest, SiteRemoval::runs, explanation.replay_check);
    }
    return {};
}

}  // namespace

std::string why_not_checked(const measure::MemoryLedger& ledger)
{
    constexpr std::uint64_t least_heap = 1U << 20U;
    return measure::heap_bytes(ledger) < least_heap
               ? fmt::format("its heap is smaller than {}", base::format_size(least_heap))
           : measure::does_not_see(ledger) ? "its recording does not see its allocations"
                                           : "";
}

void take_returns(Explanation& explanation, const ReturnsBasis& basis, std::uint32_t most_sites)
{
    if (most_sites == 0) {
        return;
    }
    explanation.no_returns = why_not_checked(explanation.ledger);
    if (!explanation.no_returns.empty()) {
        return;
    }
    if (const auto done = replay_sites(explanation, basis, most_sites); !done) {
        explanation.no_returns = reporters::inert_text(base::describe(done.error()));
    }
}

}  // namespace memsweep::app
