#include "core/measure/site_changes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/names.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

constexpr std::size_t most_sites = 20;        // named of a metric
constexpr std::size_t most_callers = 24;      // of a site
constexpr double least_varying_share = 2e-4;  // of the whole, where something varies
constexpr std::size_t many_callers = 4;       // of a function that may ask on behalf of them

using RunFigures = std::vector<double>;  // a figure in each run
using Sides = std::array<std::span<const RecordedRun>, 2>;

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

void add(SiteFigures& sum, const SiteFigures& more)
{
    sum.allocations += more.allocations;
    sum.allocated_bytes += more.allocated_bytes;
    sum.peak_bytes += more.peak_bytes;
    sum.peak_blocks += more.peak_blocks;
    sum.end_bytes += more.end_bytes;
    sum.end_blocks += more.end_blocks;
}

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

// The compiler's copies of a function ("parse.constprop.0", "parse(int) [clone .part.0]") go by its name.
std::string_view without_clone(std::string_view function)
{
    constexpr std::array<std::string_view, 7> marks{" [clone", ".constprop.", ".isra.", ".part.",
                                                    ".cold",   ".lto_priv.",  ".llvm."};
    for (const std::string_view mark : marks) {
        function = function.substr(0, function.find(mark));
    }
    return function;
}

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

// A function with a line that asks for memory, in both programs or in one.
struct SitePlace {
    std::uint32_t function{};
    std::array<std::uint32_t, 2> frame{no_frame, no_frame};  // of the base and the candidate
    static constexpr std::uint32_t no_frame = ~0U;
};

// Stacks that are one, but for lines that moved: places from the site on outwards.
struct Chain {
    std::vector<std::uint32_t> places;
    std::array<std::vector<SiteFigures>, 2> runs;  // of the base and the candidate
};
using Chains = std::vector<const Chain*>;

class MatchedStacks {
  public:
    MatchedStacks(const SiteFrames& frames, const Sides& sides) : frames_{frames}, sides_{sides}
    {
        name_functions();
        pair_places();
        std::map<std::vector<std::uint32_t>, std::size_t> known;
        for (std::size_t side = 0; side < sides.size(); ++side) {
            for (std::size_t run = 0; run < sides[side].size(); ++run) {
                for (const RecordedStack& stack : sides[side][run]) {
                    std::vector<std::uint32_t> places = places_of(stack, side);
                    const auto [at, is_new] = known.try_emplace(std::move(places), chains_.size());
                    if (is_new) {
                        chains_.push_back(
                            {at->first,
                             {std::vector<SiteFigures>(sides[0].size()), std::vector<SiteFigures>(sides[1].size())}});
                    }
                    add(chains_[at->second].runs[side][run], stack.figures);
                }
            }
        }
    }

    [[nodiscard]] const std::vector<Chain>& chains() const noexcept { return chains_; }
    [[nodiscard]] const SitePlace& place(std::uint32_t number) const { return places_[number]; }
    [[nodiscard]] const SiteFrame& frame_of(const SitePlace& place) const
    {
        return frames_.at(place.frame[1] != SitePlace::no_frame ? place.frame[1] : place.frame[0]);
    }
    [[nodiscard]] std::string label(std::uint32_t number) const
    {
        const SitePlace& place = places_[number];
        return place.function == stackless  ? "what has no stack"
               : place.function == nameless ? "code without symbols"
                                            : frame_of(place).place;
    }
    [[nodiscard]] bool is_nameless(std::uint32_t number) const { return places_[number].function == nameless; }
    // Files of either side whose places cannot be compared.
    [[nodiscard]] const std::set<std::string>& nameless_modules() const noexcept { return nameless_modules_; }

  private:
    static constexpr std::uint32_t stackless = 0;
    static constexpr std::uint32_t nameless = 1;  // all places that have no name that the other program knows too
    using FunctionAndLine = std::pair<std::uint32_t, std::uint32_t>;

    // Those of the stacks' frames that a site can be, each function once: a recursion is no other place.
    [[nodiscard]] std::vector<std::uint32_t> links_of(const RecordedStack& stack) const
    {
        std::vector<std::uint32_t> links;
        std::set<std::uint32_t> seen;
        for (const std::uint32_t frame : stack.frames) {
            if (frames_.at(frame).role == FrameRole::program && frames_.at(frame).is_named &&
                seen.insert(functions_[frame]).second) {
                links.push_back(frame);
            }
        }
        if (links.empty() && !stack.frames.empty()) {
            links.push_back(innermost(stack));
        }
        return links;
    }

    // Of a stack without a function of the program's own.
    [[nodiscard]] std::uint32_t innermost(const RecordedStack& stack) const
    {
        for (const FrameRole role : {FrameRole::program, FrameRole::library}) {
            const auto found =
                std::ranges::find(stack.frames, role, [&](auto frame) { return frames_.at(frame).role; });
            if (found != stack.frames.end()) {
                return *found;
            }
        }
        return stack.frames.front();
    }

    // By their names and files; without a name by their place in a file that both programs have.
    void name_functions()
    {
        std::array<std::set<std::string>, 2> codes;
        std::map<std::string_view, std::array<std::set<std::string_view>, 2>> files;  // by name
        for (std::size_t side = 0; side < sides_.size(); ++side) {
            for_each_frame(side, [&](std::uint32_t number) {
                const SiteFrame& frame = frames_.at(number);
                codes[side].insert(frame.code);
                files[without_clone(frame.function)][side].insert(frame.file);
            });
        }
        std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> numbers;
        for (std::uint32_t number = 0; number < frames_.count(); ++number) {
            const SiteFrame& frame = frames_.at(number);
            const std::string_view name = without_clone(frame.function);
            if (!frame.is_named &&
                (frame.code.empty() || !codes[0].contains(frame.code) || !codes[1].contains(frame.code))) {
                functions_.push_back(nameless);
                continue;
            }
            const std::string_view beside = frame.is_named ? file_of(frame, files[name]) : frame.code;
            functions_.push_back(
                numbers.try_emplace({name, beside}, static_cast<std::uint32_t>(numbers.size() + 2)).first->second);
        }
    }

    // Of the base. A file that was renamed is the same where nothing else can be meant.
    static std::string_view file_of(const SiteFrame& frame, const std::array<std::set<std::string_view>, 2>& files)
    {
        std::vector<std::string_view> gone;
        std::vector<std::string_view> added;
        std::ranges::set_difference(files[0], files[1], std::back_inserter(gone));
        std::ranges::set_difference(files[1], files[0], std::back_inserter(added));
        return gone.size() == 1 && added.size() == 1 && frame.file == added.front() ? gone.front()
                                                                                    : std::string_view{frame.file};
    }

    // Each function's lines of both programs become places.
    void pair_places()
    {
        struct Used {
            std::map<std::uint32_t, LineUse> lines;
            std::map<std::uint32_t, std::uint32_t> frames;  // by line
        };
        std::map<std::uint32_t, std::array<Used, 2>> used;
        for (std::size_t side = 0; side < sides_.size(); ++side) {
            for (const RecordedRun& run : sides_[side]) {
                for (const RecordedStack& stack : run) {
                    for (const std::uint32_t frame : links_of(stack)) {
                        const std::uint32_t function = functions_[frame];
                        const std::uint32_t line = function == nameless ? 0 : frames_.at(frame).line;
                        Used& here = used[function][side];
                        LineUse& use = here.lines[line];
                        use.line = line;
                        use.allocations += static_cast<double>(stack.figures.allocations);
                        use.bytes += static_cast<double>(stack.figures.allocated_bytes);
                        here.frames.emplace(line, frame);
                        if (function == nameless) {
                            nameless_modules_.insert(frames_.at(frame).module);
                        }
                    }
                }
            }
        }
        places_.push_back({.function = stackless});
        for (const auto& [function, both] : used) {
            std::array<std::vector<LineUse>, 2> lines;
            for (std::size_t side = 0; side < lines.size(); ++side) {
                for (const auto& [line, use] : both[side].lines) {
                    lines[side].push_back(use);
                }
            }
            for (const auto& [of_base, of_candidate] : pair_lines(lines[0], lines[1])) {
                const std::array<std::size_t, 2> indices{of_base, of_candidate};
                SitePlace place{.function = function};
                for (std::size_t side = 0; side < indices.size(); ++side) {
                    if (indices[side] != no_line) {
                        const std::uint32_t line = lines[side][indices[side]].line;
                        place.frame[side] = both[side].frames.at(line);
                        place_of_[side].emplace(FunctionAndLine{function, line},
                                                static_cast<std::uint32_t>(places_.size()));
                    }
                }
                places_.push_back(place);
            }
        }
    }

    [[nodiscard]] std::vector<std::uint32_t> places_of(const RecordedStack& stack, std::size_t side) const
    {
        std::vector<std::uint32_t> places;
        for (const std::uint32_t frame : links_of(stack)) {
            const std::uint32_t line = functions_[frame] == nameless ? 0 : frames_.at(frame).line;
            places.push_back(place_of_[side].at({functions_[frame], line}));
        }
        if (places.empty()) {
            places.push_back(0);
        }
        return places;
    }

    void for_each_frame(std::size_t side, const auto& take) const
    {
        for (const RecordedRun& run : sides_[side]) {
            for (const RecordedStack& stack : run) {
                std::ranges::for_each(stack.frames, take);
            }
        }
    }

    const SiteFrames& frames_;
    Sides sides_;
    std::vector<std::uint32_t> functions_;  // by frame
    std::vector<SitePlace> places_;         // the first is that of no stack
    std::array<std::map<FunctionAndLine, std::uint32_t>, 2> place_of_;
    std::set<std::string> nameless_modules_;
    std::vector<Chain> chains_;
};

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
        return metric_.unit == model::Unit::bytes ? of_whole
                                                  : 2 + static_cast<double>(names_apart / characters_per_call);
    }

    [[nodiscard]] bool differs(const Tally& tally) const
    {
        const double gap = tally.gap();
        return gap > 0 && gap > tally.scatter() && gap >= least_;
    }

    // The chains have one place at this depth. It is the site, or its callers are.
    void attribute(const Chains& chains, std::size_t depth, std::vector<std::string> through)
    {
        const std::uint32_t place = chains.front()->places[depth];
        const bool has_callers =
            std::ranges::all_of(chains, [&](const Chain* chain) { return chain->places.size() > depth + 1; });
        const auto callers = has_callers ? by_place(chains, depth + 1) : std::map<std::uint32_t, Chains>{};
        if (asks_for_others(place, callers)) {
            through.push_back(stacks_.label(place));
            for (const auto& [caller, its] : callers) {
                attribute(its, depth + 1, through);
            }
            return;
        }
        Site& site = sites_[place];
        site.chains.insert(site.chains.end(), chains.begin(), chains.end());
        site.through = std::move(through);
    }

    [[nodiscard]] bool asks_for_others(std::uint32_t place, const std::map<std::uint32_t, Chains>& callers) const
    {
        if (callers.empty() || stacks_.is_nameless(place)) {
            return false;
        }
        const auto differing = static_cast<std::size_t>(std::ranges::count_if(
            callers, [&](const auto& one) { return differs(tally_of(one.second, metric_.figure)); }));
        if (is_named_as_allocator(stacks_.frame_of(stacks_.place(place)).function)) {
            return callers.size() == 1 || differing < callers.size();
        }
        return callers.size() >= many_callers && differing > 0 && differing * many_callers <= callers.size();
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

std::uint32_t SiteFrames::number_of(const SiteFrame& frame)
{
    const auto [at, is_new] = numbers_.try_emplace(Key{frame.function, frame.file, frame.line, frame.code},
                                                   static_cast<std::uint32_t>(frames_.size()));
    if (is_new) {
        frames_.push_back(frame);
    }
    return at->second;
}

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
