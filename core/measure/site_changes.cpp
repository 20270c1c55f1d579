#include "core/measure/site_changes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/names.hpp"
#include "core/measure/site_matching.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

constexpr std::size_t most_sites = 20;        // named of a metric
constexpr std::size_t most_callers = 24;      // of a site
constexpr double least_varying_share = 2e-4;  // of the whole, where something varies
constexpr std::size_t many_callers = 4;       // of a function that may ask on behalf of them

using RunFigures = std::vector<double>;  // a figure in each run

struct SiteMetric {
    std::string_view name;
    model::Unit unit{};
    std::uint64_t SiteFigures::*figure{};
    std::uint64_t SiteFigures::*blocks{};  // null: it is of no moment
};
constexpr std::array<SiteMetric, 4> site_metrics{
    {{model::metrics::allocations, model::Unit::one, &SiteFigures::allocations, nullptr},
     {model::metrics::allocated_bytes, model::Unit::bytes, &SiteFigures::allocated_bytes, nullptr},
     {model::metrics::live_bytes_peak, model::Unit::bytes, &SiteFigures::peak_bytes, &SiteFigures::peak_blocks},
     {model::metrics::live_bytes_end, model::Unit::bytes, &SiteFigures::end_bytes, &SiteFigures::end_blocks}}};

// One figure in the runs of both programs.
struct Tally {
    RunFigures base, candidate;

    [[nodiscard]] double change() const { return median(candidate) - median(base); }
    [[nodiscard]] double scatter() const
    {
        const auto range = [](const RunFigures& runs) {
            const auto [least, most] = std::ranges::minmax(runs);
            return most - least;
        };
        return std::max(range(base), range(candidate));
    }
    // 0 or less where the runs of the two overlap.
    [[nodiscard]] double gap() const
    {
        return std::max(std::ranges::min(candidate) - std::ranges::max(base),
                        std::ranges::min(base) - std::ranges::max(candidate));
    }
};

// Called like malloc: xmalloc, g_strdup, sqlite3MallocZero.
bool is_named_as_allocator(std::string_view function)
{
    constexpr std::array<std::string_view, 7> names{"malloc",  "calloc", "realloc", "memalign",
                                                    "strndup", "strdup", "memdup"};
    std::string name{function.substr(0, function.find('('))};
    name = name.substr(name.rfind(':') + 1);  // npos + 1 is 0
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::ranges::any_of(names, [&](std::string_view one) { return name.find(one) != std::string::npos; });
}

using Chains = std::vector<const Chain*>;

Tally tally_of(const Chains& chains, std::uint64_t SiteFigures::*figure)
{
    Tally tally;
    const auto sum = [&](std::size_t side) {
        RunFigures runs(chains.front()->runs[side].size());
        for (const Chain* const chain : chains) {
            for (std::size_t run = 0; run < runs.size(); ++run) {
                runs[run] += static_cast<double>(chain->runs[side][run].*figure);
            }
        }
        return runs;
    };
    tally.base = sum(0);
    tally.candidate = sum(1);
    return tally;
}

std::map<std::uint32_t, Chains> by_place(const Chains& chains, std::size_t depth)
{
    std::map<std::uint32_t, Chains> groups;
    for (const Chain* const chain : chains) {
        groups[chain->places[depth]].push_back(chain);
    }
    return groups;
}

// The sites of one metric.
class SitesOfMetric {
  public:
    SitesOfMetric(const MatchedStacks& stacks, const SiteMetric& metric, bool varies, std::uint64_t names_apart)
        : stacks_{stacks}, metric_{metric}
    {
        Chains all;
        for (const Chain& chain : stacks.chains()) {
            all.push_back(&chain);
        }
        whole_ = tally_of(all, metric.figure);
        const double base = median(whole_.base);
        least_ = std::max(varies ? least_varying_share * base : 0, explained_by_names(base, names_apart));
        for (const auto& [place, chains] : by_place(all, 0)) {
            attribute(chains, 0, {});
        }
    }

    [[nodiscard]] model::MetricSites result() const
    {
        model::MetricSites result{.metric = std::string{metric_.name},
                                  .unit = metric_.unit,
                                  .base = median(whole_.base),
                                  .candidate = median(whole_.candidate),
                                  .change = whole_.change(),
                                  .sites = {}};
        const bool has_changed = differs(whole_);
        for (const auto& [place, site] : sites_) {
            if (const Tally tally = tally_of(site.chains, metric_.figure); differs(tally)) {
                result.sites.push_back(change_of(place, site, tally));
                if (has_changed) {
                    result.sites.back().share = tally.change() / whole_.change();
                }
            }
        }
        std::ranges::stable_sort(result.sites, std::ranges::greater{}, [](const model::SiteChange& one) {
            return one.share.value_or(std::fabs(one.change));
        });
        for (std::size_t i = most_sites; i < result.sites.size(); ++i) {
            ++result.more_sites;
            result.more_change += result.sites[i].change;
        }
        result.sites.resize(std::min(result.sites.size(), most_sites));
        return result;
    }

    // Whether the runs of the two lie apart for some site, if only by little.
    [[nodiscard]] bool may_differ() const
    {
        return std::ranges::any_of(
            sites_, [&](const auto& one) { return tally_of(one.second.chains, metric_.figure).gap() > 0; });
    }

  private:
    struct Site {
        Chains chains;
        std::vector<std::string> through;
    };

    // Of any site, where the whole changes by no more than the names explain.
    [[nodiscard]] double explained_by_names(double base, std::uint64_t names_apart) const
    {
        constexpr std::uint64_t characters_per_call = 8;
        const double of_whole = threshold_under_names({}, metric_.unit, base, names_apart).absolute;
        if (std::fabs(whole_.change()) >= of_whole) {
            return 0;
        }
        const std::uint64_t calls = 2 + names_apart / characters_per_call;
        return metric_.unit == model::Unit::bytes ? of_whole : static_cast<double>(calls);
    }

    [[nodiscard]] bool differs(const Tally& tally) const
    {
        const double gap = tally.gap();
        return gap > 0 && gap > tally.scatter() && gap >= least_;
    }

    // The chains have one place at this depth. It is the site, or its callers are; of what has no caller it is.
    void attribute(const Chains& chains, std::size_t depth, std::vector<std::string> through)
    {
        const std::uint32_t place = chains.front()->places[depth];
        Chains called;
        Chains outermost;
        for (const Chain* const chain : chains) {
            (chain->places.size() > depth + 1 ? called : outermost).push_back(chain);
        }
        const std::map<std::uint32_t, Chains> callers = by_place(called, depth + 1);
        if (!asks_for_others(place, callers, outermost)) {
            take(place, chains, std::move(through));
            return;
        }
        if (!outermost.empty()) {
            take(place, outermost, through);
        }
        through.push_back(stacks_.label(place));
        for (const auto& [caller, its] : callers) {
            attribute(its, depth + 1, through);
        }
    }

    void take(std::uint32_t place, const Chains& chains, std::vector<std::string> through)
    {
        Site& site = sites_[place];
        site.chains.insert(site.chains.end(), chains.begin(), chains.end());
        site.through = std::move(through);
    }

    [[nodiscard]] bool asks_for_others(std::uint32_t place, const std::map<std::uint32_t, Chains>& callers,
                                       const Chains& outermost) const
    {
        if (callers.empty() || stacks_.is_nameless(place)) {
            return false;
        }
        const auto is_differing = [&](const Chains& chains) {
            return !chains.empty() && differs(tally_of(chains, metric_.figure));
        };
        const std::size_t all = callers.size() + (outermost.empty() ? 0 : 1);
        const auto differing = static_cast<std::size_t>(std::ranges::count_if(
                                   callers, [&](const auto& one) { return is_differing(one.second); })) +
                               (is_differing(outermost) ? 1 : 0);
        if (is_named_as_allocator(stacks_.function_of(place))) {
            return all == 1 || differing < all;
        }
        return all >= many_callers && differing > 0 && differing * many_callers <= all;
    }

    [[nodiscard]] model::SiteChange change_of(std::uint32_t place, const Site& site, const Tally& tally) const
    {
        const auto has_any = [](const RunFigures& runs) { return std::ranges::max(runs) > 0; };
        const Tally asked = tally_of(site.chains, &SiteFigures::allocations);
        const auto most = std::ranges::max_element(
            site.chains, {}, [&](const Chain* chain) { return std::fabs(tally_of({chain}, metric_.figure).change()); });
        model::SiteChange change{.site = stacks_.label(place),
                                 .through = site.through,
                                 .callers = {},
                                 .in = !has_any(asked.base)        ? model::SiteIn::candidate
                                       : !has_any(asked.candidate) ? model::SiteIn::base
                                                                   : model::SiteIn::both,
                                 .base = median(tally.base),
                                 .candidate = median(tally.candidate),
                                 .change = tally.change(),
                                 .scatter = tally.scatter(),
                                 .share = {}};
        const std::vector<std::uint32_t>& places = (*most)->places;
        for (auto at = std::ranges::find(places, place) + 1; at != places.end() && change.callers.size() < most_callers;
             ++at) {
            change.callers.push_back(stacks_.label(*at));
        }
        if (metric_.blocks != nullptr) {
            change.blocks = tally_of(site.chains, metric_.blocks).change();
        }
        return change;
    }

    const MatchedStacks& stacks_;
    const SiteMetric& metric_;
    Tally whole_;
    double least_{};
    std::map<std::uint32_t, Site> sites_;  // by place
};

bool varies_in(const Chain& chain)
{
    return std::ranges::any_of(
        site_metrics, [&](const SiteMetric& metric) { return tally_of({&chain}, metric.figure).scatter() > 0; });
}

// Why nothing can be told apart; empty: something can.
std::string nothing_named(const MatchedStacks& stacks)
{
    std::array<double, 2> all{};
    std::array<double, 2> nameless{};
    for (const Chain& chain : stacks.chains()) {
        for (std::size_t side = 0; side < all.size(); ++side) {
            for (const SiteFigures& figures : chain.runs[side]) {
                const auto bytes = static_cast<double>(figures.allocated_bytes);
                all[side] += bytes;
                nameless[side] += stacks.is_nameless(chain.places.front()) ? bytes : 0;
            }
        }
    }
    if (all[0] + all[1] == 0) {
        return "nothing was allocated";
    }
    return 2 * nameless[0] > all[0] || 2 * nameless[1] > all[1]
               ? fmt::format("no symbols: {}; sites cannot be compared", fmt::join(stacks.nameless_modules(), ", "))
               : "";
}

}  // namespace

bool is_metric_of_sites(std::string_view metric)
{
    return std::ranges::find(site_metrics, metric, &SiteMetric::name) != site_metrics.end();
}

ComparedSites compare_sites(const SiteFrames& frames, std::span<const RecordedRun> base,
                            std::span<const RecordedRun> candidate, std::uint64_t names_apart)
{
    ComparedSites compared;
    model::SiteComparison& changes = compared.changes;
    const MatchedStacks stacks{frames, {base, candidate}};
    const std::size_t runs = std::min(base.size(), candidate.size());
    changes.runs = static_cast<std::uint32_t>(runs);
    changes.varies = std::ranges::any_of(stacks.chains(), varies_in);
    changes.reason = nothing_named(stacks);
    if (!changes.reason.empty()) {
        compared.is_settled = true;
        return compared;
    }
    bool may_differ = false;
    for (const SiteMetric& metric : site_metrics) {
        const SitesOfMetric sites{stacks, metric, changes.varies, names_apart};
        may_differ = may_differ || sites.may_differ();
        if (model::MetricSites result = sites.result(); !result.sites.empty()) {
            changes.metrics.push_back(std::move(result));
        }
    }
    if (!stacks.nameless_modules().empty()) {
        changes.notes.push_back(fmt::format("no symbols: {}; what they ask for themselves is not told apart",
                                            fmt::join(stacks.nameless_modules(), ", ")));
    }
    compared.is_settled = runs >= varying_site_runs || (runs >= first_site_runs && (!changes.varies || !may_differ));
    return compared;
}

}  // namespace memsweep::measure
