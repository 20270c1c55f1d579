#include "core/measure/findings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/measure/cases.hpp"
#include "core/measure/probed_cases.hpp"
#include "core/measure/statistics.hpp"
#include "core/model/metric_id.hpp"

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

// `value` (the median or the best) of one case, beside that of another.
MetricEffect figure(std::string_view metric, Unit unit, double ProbedCase::*value, const ProbedCase& one,
                    const ProbedCase* base = nullptr)
{
    MetricEffect found{.metric = std::string{metric}, .unit = unit, .value = one.*value, .of = one.report};
    if (base != nullptr) {
        found.base_value = base->*value;
        found.effect = case_shift(*base->report, *one.report, metric);
        found.base = base->report;
    }
    return found;
}

MetricEffect rate(const ProbedCase& one, const ProbedCase* base = nullptr)
{
    return figure(model::metrics::bandwidth, Unit::bytes_per_second, &ProbedCase::median, one, base);
}

MetricEffect least_latency(const ProbedCase& one, const ProbedCase* base = nullptr)
{
    return figure(model::metrics::latency, Unit::seconds, &ProbedCase::best, one, base);
}

void add(FindingKind kind, std::vector<MetricEffect> figures, std::vector<Finding>& findings)
{
    if (!figures.empty()) {
        const MetricEffect& first = figures.front();
        findings.push_back({.kind = kind,
                            .importance = Importance::note,
                            .case_id = first.of->id,
                            .base = first.base != nullptr ? first.base->id : "",
                            .metrics = std::move(figures)});
    }
}

std::vector<std::int64_t> thread_counts(Cases cases)
{
    std::vector<std::int64_t> counts;
    for (const ProbedCase& one : measured(cases, "probe_bandwidth", model::metrics::bandwidth)) {
        counts.push_back(number_of(*one.report, "threads"));
    }
    std::ranges::sort(counts);
    const auto rest = std::ranges::unique(counts);
    counts.erase(rest.begin(), rest.end());
    return counts;
}

// Adds, for each number of threads, the best of every kind of store.
void add_bandwidth(Cases cases, std::vector<Finding>& findings)
{
    std::vector<MetricEffect> figures;
    for (const std::int64_t threads : thread_counts(cases)) {
        for (const std::string_view kernel : {"read", "copy", "triad"}) {
            if (const auto found =
                    best(measured(cases, "probe_bandwidth", model::metrics::bandwidth, [&](const CaseReport& one) {
                        return text_of(one, "kernel") == kernel && number_of(one, "threads") == threads;
                    }))) {
                figures.push_back(rate(*found));
            }
        }
    }
    add(FindingKind::probe_bandwidth, std::move(figures), findings);
}

void add_stores(Cases cases, std::vector<Finding>& findings)
{
    std::vector<MetricEffect> figures;
    for (const std::int64_t threads : thread_counts(cases)) {
        const auto copies = [&](std::string_view store) {
            return best(measured(cases, "probe_bandwidth", model::metrics::bandwidth, [&](const CaseReport& one) {
                return text_of(one, "kernel") == "copy" && text_of(one, "store") == store &&
                       number_of(one, "threads") == threads;
            }));
        };
        const auto plain = copies("plain");
        const auto past = copies("nt");
        if (plain && past) {
            figures.push_back(rate(*past, &*plain));
        }
    }
    add(FindingKind::probe_stores, std::move(figures), findings);
}

// Where zeroes are written at another rate than data, by more than a tenth.
void add_zeroes(Cases cases, std::vector<Finding>& findings)
{
    constexpr double clear_share = 0.1;
    std::vector<MetricEffect> figures;
    for (const ProbedCase& zeroes : measured(cases, "probe_bandwidth", model::metrics::bandwidth)) {
        if (text_of(*zeroes.report, "variant") != "zeroes") {
            continue;
        }
        const auto same = [&](const CaseReport& one) {
            return text_of(one, "kernel") == text_of(*zeroes.report, "kernel") && text_of(one, "variant").empty() &&
                   text_of(one, "store") == text_of(*zeroes.report, "store") &&
                   number_of(one, "threads") == number_of(*zeroes.report, "threads");
        };
        const auto data = best(measured(cases, "probe_bandwidth", model::metrics::bandwidth, same));
        const auto shift = data ? case_shift(*data->report, *zeroes.report, model::metrics::bandwidth) : std::nullopt;
        if (!shift || !shift->is_ratio || std::abs(shift->estimate - 1) <= clear_share) {
            continue;
        }
        const bool is_noise = shift->interval && shift->interval->front() <= 1 && shift->interval->back() >= 1;
        if (!is_noise) {
            figures.push_back(rate(zeroes, &*data));
        }
    }
    add(FindingKind::probe_zeroes, std::move(figures), findings);
}

// By pages, in the order of sizes.
std::map<std::string, std::vector<ProbedCase>> latencies(Cases cases)
{
    std::map<std::string, std::vector<ProbedCase>> by_pages;
    for (const ProbedCase& one : measured(cases, "probe_latency", model::metrics::latency)) {
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

void add_latency(Cases cases, std::vector<Finding>& findings)
{
    for (const auto& [pages, by_size] : latencies(cases)) {
        std::vector<MetricEffect> figures;
        for (const ProbedCase& level : levels(by_size)) {
            figures.push_back(least_latency(level));
        }
        add(FindingKind::probe_latency, std::move(figures), findings);
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
        const bool medians_differ =
            shown_above(*large.report, *small.report, model::metrics::latency, impossible_factor);
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
    const auto chains = measured(cases, "probe_parallel_loads", model::metrics::bandwidth);
    const ProbedCase* const one = with_number(chains, "chains", 1);
    std::vector<Contradiction> found;
    for (const ProbedCase& several : chains) {
        const auto count = static_cast<double>(number_of(*several.report, "chains"));
        if (one == nullptr || count <= 1) {
            continue;
        }
        const bool medians_differ =
            shown_above(*one->report, *several.report, model::metrics::bandwidth, count * impossible_factor);
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
    const auto loaded = measured(cases, "probe_loaded_latency", model::metrics::latency);
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
                         shown_above(*busy.report, *idle.report, model::metrics::latency, impossible_factor));
}

void add_parallel_loads(Cases cases, std::vector<Finding>& findings)
{
    const auto chains = measured(cases, "probe_parallel_loads", model::metrics::bandwidth);
    const ProbedCase* const one = with_number(chains, "chains", 1);
    const auto most = best(chains);
    if (one != nullptr && most && most->report != one->report && impossible_chains(cases).empty()) {
        add(FindingKind::probe_chains,
            {figure(model::metrics::bandwidth, Unit::bytes_per_second, &ProbedCase::best, *most, one)}, findings);
    }
    const auto doubt = sooner_under_load(cases);
    if (const auto load = loaded_latency(cases); load && !(doubt && doubt->by_best)) {
        add(FindingKind::probe_loaded_latency, {least_latency(load->busy, &load->idle)}, findings);
    }
}

void add_faults(Cases cases, std::vector<Finding>& findings)
{
    std::vector<MetricEffect> figures;
    for (const ProbedCase& one : measured(cases, "probe_faults", model::metrics::time_per_fault)) {
        figures.push_back(figure(model::metrics::time_per_fault, Unit::seconds, &ProbedCase::median, one));
    }
    add(FindingKind::probe_faults, std::move(figures), findings);
}

using Transfers = std::map<std::string, ProbedCase, std::less<>>;  // by their names

std::map<std::string, Transfers> transfers_by_device(Cases cases, std::string_view metric)
{
    std::map<std::string, Transfers> found;
    for (const ProbedCase& one : measured(cases, "probe_device", metric)) {
        found[text_of(*one.report, "device")].emplace(text_of(*one.report, "transfer"), one);
    }
    return found;
}

using TransferNames = std::initializer_list<std::string_view>;

// Adds, for each device, those of the wanted transfers that were measured, beside their bases if such are named.
void add_transfers(Cases cases, FindingKind kind, TransferNames wanted, TransferNames bases,
                   std::vector<Finding>& findings)
{
    const bool are_loads = kind == FindingKind::device_loads;
    for (const auto& [device, transfers] :
         transfers_by_device(cases, are_loads ? model::metrics::latency : model::metrics::bandwidth)) {
        std::vector<MetricEffect> figures;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const auto one = transfers.find(wanted.begin()[i]);
            const auto base = bases.size() == 0 ? transfers.end() : transfers.find(bases.begin()[i]);
            if (one != transfers.end() && (bases.size() == 0 || base != transfers.end())) {
                const ProbedCase* const beside = bases.size() == 0 ? nullptr : &base->second;
                figures.push_back(are_loads ? least_latency(one->second) : rate(one->second, beside));
            }
        }
        add(kind, std::move(figures), findings);
    }
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
        findings.push_back(
            {.kind = one.kind,
             .importance = Importance::warning,
             .case_id = one.other.report->id,
             .base = one.base.report->id,
             .metrics = {{.metric = std::string{are_chains ? model::metrics::bandwidth : model::metrics::latency},
                          .unit = are_chains ? Unit::bytes_per_second : Unit::seconds,
                          .value = one.other.*value,
                          .base_value = one.base.*value}},
             .about = one});
    }
    return findings;
}

std::vector<Finding> probe_findings(std::span<const CaseReport> all)
{
    const std::vector<const CaseReport*> cases = pointers_to(all);
    std::vector<Finding> findings;
    add_bandwidth(cases, findings);
    add_stores(cases, findings);
    add_zeroes(cases, findings);
    add_latency(cases, findings);
    add_parallel_loads(cases, findings);
    add_faults(cases, findings);
    add_transfers(cases, FindingKind::device_copies,
                  {"host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_local_copy"}, {}, findings);
    add_transfers(cases, FindingKind::device_staging, {"host_to_device_staged", "device_to_host_staged"},
                  {"host_to_device_pageable", "device_to_host_pageable"}, findings);
    add_transfers(cases, FindingKind::device_loads,
                  {"host_device_latency_sm", "device_local_latency_sm", "device_l2_latency_sm"}, {}, findings);
    return findings;
}

}  // namespace memsweep::measure
