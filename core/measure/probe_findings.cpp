#include "core/measure/findings.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/device_findings.hpp"
#include "core/measure/format.hpp"
#include "core/measure/probed_cases.hpp"
#include "core/measure/statistics.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Unit;
using Cases = std::span<const CaseReport* const>;

// From one size of the working set to the next: more than this is a step between two levels of the memory.
constexpr double step_factor = 1.4;
// What cannot be is still allowed this much: the clock, and lines that a prefetcher brought.
constexpr double impossible_factor = 1.1;
// Best samples have no interval, and a processor's clock frequency may have changed between two of them.
constexpr double best_impossible_factor = 1.25;

// "1.35x [1.30, 1.41]"
std::string factor_text(const CaseReport& base, const CaseReport& other, std::string_view metric)
{
    const Shift shift = case_shift(base, other, metric).value();
    const std::string interval = shift.interval ? fmt::format(" [{}, {}]", format_factor(shift.interval->front()),
                                                              format_factor(shift.interval->back()))
                                                : std::string{};
    return fmt::format("{}x{}", format_factor(shift.estimate), interval);
}

std::string threads_text(std::int64_t threads)
{
    return threads == 1 ? "one thread" : fmt::format("{} threads", threads);
}

// "24.1 GB/s read, 20.4 GB/s copied, 21.9 GB/s in a triad": the best of every kind of store.
std::string rates_text(Cases cases, std::int64_t threads)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kernels{
        {{"read", "read"}, {"copy", "copied"}, {"triad", "in a triad"}}};
    std::vector<std::string> rates;
    for (const auto& [kernel, spoken_as] : kernels) {
        const auto rate = best(measured(cases, "probe_bandwidth", "bandwidth", [&](const CaseReport& one) {
            return text_of(one, "kernel") == kernel && number_of(one, "threads") == threads;
        }));
        if (rate) {
            rates.push_back(fmt::format("{} {}", format_value(Unit::bytes_per_second, rate->median), spoken_as));
        }
    }
    return fmt::format("{}", fmt::join(rates, ", "));
}

std::vector<std::int64_t> thread_counts(Cases cases)
{
    std::vector<std::int64_t> counts;
    for (const ProbedCase& one : measured(cases, "probe_bandwidth", "bandwidth")) {
        counts.push_back(number_of(*one.report, "threads"));
    }
    std::ranges::sort(counts);
    const auto rest = std::ranges::unique(counts);
    counts.erase(rest.begin(), rest.end());
    return counts;
}

void add_bandwidth(Cases cases, std::vector<std::string>& sentences)
{
    std::vector<std::string> parts;
    for (const std::int64_t threads : thread_counts(cases)) {
        const std::string rates = rates_text(cases, threads);
        if (!rates.empty()) {
            parts.push_back(fmt::format("{}: {}", threads_text(threads), rates));
        }
    }
    add_sentence(sentences, "bandwidth, bytes read and written", parts, "; ");
}

void add_stores(Cases cases, std::vector<std::string>& sentences)
{
    std::vector<std::string> parts;
    for (const std::int64_t threads : thread_counts(cases)) {
        const auto copies = [&](std::string_view store) {
            return best(measured(cases, "probe_bandwidth", "bandwidth", [&](const CaseReport& one) {
                return text_of(one, "kernel") == "copy" && text_of(one, "store") == store &&
                       number_of(one, "threads") == threads;
            }));
        };
        const auto plain = copies("plain");
        const auto past = copies("nt");
        if (plain && past) {
            parts.push_back(fmt::format("{} by {}", factor_text(*plain->report, *past->report, "bandwidth"),
                                        threads_text(threads)));
        }
    }
    add_sentence(sentences, "non-temporal stores copy at this multiple of plain ones", parts, ", ");
}

// "2.18x [2.15, 2.20] by one thread (nt)": where zeroes are written at another rate than data, by more than a tenth.
void add_zeroes(Cases cases, std::vector<std::string>& sentences)
{
    constexpr double clear_share = 0.1;
    std::vector<std::string> parts;
    for (const ProbedCase& zeroes : measured(cases, "probe_bandwidth", "bandwidth")) {
        if (text_of(*zeroes.report, "variant") != "zeroes") {
            continue;
        }
        const auto same = [&](const CaseReport& one) {
            return text_of(one, "kernel") == text_of(*zeroes.report, "kernel") && text_of(one, "variant").empty() &&
                   text_of(one, "store") == text_of(*zeroes.report, "store") &&
                   number_of(one, "threads") == number_of(*zeroes.report, "threads");
        };
        const auto data = best(measured(cases, "probe_bandwidth", "bandwidth", same));
        const auto shift = data ? case_shift(*data->report, *zeroes.report, "bandwidth") : std::nullopt;
        if (!shift || !shift->is_ratio || std::abs(shift->estimate - 1) <= clear_share) {
            continue;
        }
        const bool is_noise = shift->interval && shift->interval->front() <= 1 && shift->interval->back() >= 1;
        if (!is_noise) {
            parts.push_back(fmt::format("{} by {} ({})", factor_text(*data->report, *zeroes.report, "bandwidth"),
                                        threads_text(number_of(*zeroes.report, "threads")),
                                        text_of(*zeroes.report, "store")));
        }
    }
    add_sentence(sentences,
                 "zeroes are written at this multiple of other data's rate, so a benchmark that writes zeroes "
                 "measures another machine",
                 parts, ", ");
}

// By pages, in the order of sizes.
std::map<std::string, std::vector<ProbedCase>> latencies(Cases cases)
{
    std::map<std::string, std::vector<ProbedCase>> by_pages;
    for (const ProbedCase& one : measured(cases, "probe_latency", "latency")) {
        by_pages[text_of(*one.report, "pages")].push_back(one);
    }
    for (auto& [pages, found] : by_pages) {
        std::ranges::sort(found, {}, [](const ProbedCase& one) { return number_of(*one.report, "size"); });
    }
    return by_pages;
}

// The last sizes before the latency climbs, and the largest.
std::vector<ProbedCase> levels(const std::vector<ProbedCase>& by_size)
{
    std::vector<ProbedCase> found;
    bool climbing = false;
    for (std::size_t i = 0; i + 1 < by_size.size(); ++i) {
        const bool climbs = by_size[i + 1].best > step_factor * by_size[i].best;
        if (climbs && !climbing) {
            found.push_back(by_size[i]);
        }
        climbing = climbs;
    }
    found.push_back(by_size.back());
    return found;
}

void add_latency(Cases cases, std::vector<std::string>& sentences)
{
    for (const auto& [pages, by_size] : latencies(cases)) {
        std::vector<std::string> parts;
        for (const ProbedCase& level : levels(by_size)) {
            const auto bytes = static_cast<std::uint64_t>(number_of(*level.report, "size"));
            parts.push_back(fmt::format("{} {} {}", format_value(Unit::seconds, level.best),
                                        level.report == by_size.back().report ? "at" : "up to",
                                        base::exact_size(bytes)));
        }
        sentences.push_back(
            fmt::format("a load on {} pages takes {} (least of the samples)", pages, fmt::join(parts, ", ")));
    }
}

// By the interval; where there are too few repetitions for one, by as much more as a step between two levels.
bool shown_above(const CaseReport& base, const CaseReport& other, std::string_view metric, double factor)
{
    const Shift shift = case_shift(base, other, metric).value();
    return shift.is_ratio &&
           (shift.interval ? shift.interval->front() > factor : shift.estimate > factor * step_factor);
}

// `excess` of the best samples and of the medians; empty where neither is beyond noise.
std::optional<Contradiction> contradiction(FindingKind kind, const ProbedCase& base, const ProbedCase& other,
                                           double best_excess, double median_excess, bool medians_differ)
{
    if (std::isfinite(best_excess) && best_excess > best_impossible_factor) {
        return Contradiction{kind, base, other, best_excess, true};
    }
    return medians_differ ? std::optional{Contradiction{kind, base, other, median_excess, false}} : std::nullopt;
}

// A larger working set is never nearer to the processor: where its loads are faster beyond noise, something else ran
// beside the smaller one. Of each set against the fastest of the larger ones.
std::vector<Contradiction> falling_latencies(const std::vector<ProbedCase>& by_size)
{
    std::vector<Contradiction> found;
    for (std::size_t i = 0; i + 1 < by_size.size(); ++i) {
        const ProbedCase& small = by_size[i];
        const std::span larger = std::span{by_size}.subspan(i + 1);
        const ProbedCase& large = *std::ranges::min_element(larger, {}, &ProbedCase::median);
        const ProbedCase& fastest = *std::ranges::min_element(larger, {}, &ProbedCase::best);
        const bool medians_differ = shown_above(*large.report, *small.report, "latency", impossible_factor);
        const double best_excess = small.best / fastest.best;
        if (auto one = contradiction(FindingKind::implausible_latency, small,
                                     best_excess > best_impossible_factor ? fastest : large, best_excess,
                                     small.median / large.median, medians_differ)) {
            found.push_back(*one);
        }
    }
    return found;
}

// n chains load at most n times as much as one.
std::vector<Contradiction> impossible_chains(Cases cases)
{
    const auto chains = measured(cases, "probe_parallel_loads", "bandwidth");
    const ProbedCase* const one = with_number(chains, "chains", 1);
    std::vector<Contradiction> found;
    for (const ProbedCase& several : chains) {
        const auto count = static_cast<double>(number_of(*several.report, "chains"));
        if (one == nullptr || count <= 1) {
            continue;
        }
        const bool medians_differ = shown_above(*one->report, *several.report, "bandwidth", count * impossible_factor);
        if (auto excess =
                contradiction(FindingKind::implausible_chains, *one, several, several.best / one->best / count,
                              several.median / one->median / count, medians_differ)) {
            found.push_back(*excess);
        }
    }
    return found;
}

// What a load takes with idle memory, and while the other processors stream.
struct LoadedLatency {
    ProbedCase idle;
    ProbedCase busy;
};

std::optional<LoadedLatency> loaded_latency(Cases cases)
{
    const auto loaded = measured(cases, "probe_loaded_latency", "latency");
    const ProbedCase* const idle = with_number(loaded, "load", 0);
    const ProbedCase* const busy = with_number(loaded, "load", 100);
    return idle != nullptr && busy != nullptr ? std::optional{LoadedLatency{*idle, *busy}} : std::nullopt;
}

// Memory that others stream through answers no sooner than idle memory.
std::optional<Contradiction> sooner_under_load(Cases cases)
{
    const auto found = loaded_latency(cases);
    if (!found) {
        return std::nullopt;
    }
    const auto& [idle, busy] = *found;
    return contradiction(FindingKind::implausible_loaded_latency, idle, busy, idle.best / busy.best,
                         idle.median / busy.median,
                         shown_above(*busy.report, *idle.report, "latency", impossible_factor));
}

void add_parallel_loads(Cases cases, std::vector<std::string>& sentences)
{
    const auto chains = measured(cases, "probe_parallel_loads", "bandwidth");
    const ProbedCase* const one = with_number(chains, "chains", 1);
    const auto most = best(chains);
    if (one != nullptr && most && most->report != one->report && impossible_chains(cases).empty()) {
        sentences.push_back(fmt::format("{} chains of loads at once bring {} times what one brings: {}",
                                        number_of(*most->report, "chains"), format_factor(most->best / one->best),
                                        format_value(Unit::bytes_per_second, most->best)));
    }
    const auto doubt = sooner_under_load(cases);
    if (const auto load = loaded_latency(cases); load && !(doubt && doubt->by_best)) {
        sentences.push_back(fmt::format("a load takes {}x the time while the other processors stream: {} against {} "
                                        "(least of the samples)",
                                        format_factor(load->busy.best / load->idle.best),
                                        format_value(Unit::seconds, load->busy.best),
                                        format_value(Unit::seconds, load->idle.best)));
    }
}

void add_faults(Cases cases, std::vector<std::string>& sentences)
{
    std::vector<std::string> parts;
    for (const ProbedCase& one : measured(cases, "probe_faults", "time_per_fault")) {
        parts.push_back(fmt::format("{} {}, {} pages", format_value(Unit::seconds, one.median),
                                    spoken(text_of(*one.report, "kind")), text_of(*one.report, "pages")));
    }
    add_sentence(sentences, "a page fault costs", parts, "; ");
}

std::vector<const CaseReport*> pointers_to(std::span<const CaseReport> cases)
{
    std::vector<const CaseReport*> pointers;
    for (const CaseReport& one : cases) {
        pointers.push_back(&one);
    }
    return pointers;
}

}  // namespace

std::vector<Contradiction> contradictions(Cases cases)
{
    std::vector<Contradiction> found;
    for (const auto& [pages, by_size] : latencies(cases)) {
        std::ranges::move(falling_latencies(by_size), std::back_inserter(found));
    }
    std::ranges::move(impossible_chains(cases), std::back_inserter(found));
    if (const auto one = sooner_under_load(cases)) {
        found.push_back(*one);
    }
    return found;
}

const CaseReport& doubted_case(const Contradiction& one)
{
    return one.kind == FindingKind::implausible_chains ? *one.other.report : *one.base.report;
}

std::vector<Finding> implausible_findings(std::span<const CaseReport> all)
{
    std::vector<Contradiction> worst;
    for (const Contradiction& one : contradictions(pointers_to(all))) {
        const auto alike = std::ranges::find_if(worst, [&](const Contradiction& other) {
            return other.kind == one.kind &&
                   (one.kind != FindingKind::implausible_latency ||
                    text_of(*other.base.report, "pages") == text_of(*one.base.report, "pages"));
        });
        if (alike == worst.end()) {
            worst.push_back(one);
        } else if (one.excess > alike->excess) {
            *alike = one;
        }
    }
    std::vector<Finding> findings;
    for (const Contradiction& one : worst) {
        const bool are_chains = one.kind == FindingKind::implausible_chains;
        const auto value = one.by_best ? &ProbedCase::best : &ProbedCase::median;
        findings.push_back({.kind = one.kind,
                            .importance = Importance::warning,
                            .case_id = one.other.report->id,
                            .base = one.base.report->id,
                            .metrics = {{.metric = are_chains ? "bandwidth" : "latency",
                                         .unit = are_chains ? Unit::bytes_per_second : Unit::seconds,
                                         .value = one.other.*value,
                                         .base_value = one.base.*value}},
                            .about = one});
    }
    return findings;
}

std::vector<std::string> probe_sentences(std::span<const CaseReport> all)
{
    const std::vector<const CaseReport*> cases = pointers_to(all);
    std::vector<std::string> sentences;
    add_bandwidth(cases, sentences);
    add_stores(cases, sentences);
    add_zeroes(cases, sentences);
    add_latency(cases, sentences);
    add_parallel_loads(cases, sentences);
    add_faults(cases, sentences);
    std::ranges::move(device_sentences(cases), std::back_inserter(sentences));
    return sentences;
}

}  // namespace memsweep::measure
