#include "core/measure/findings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/format.hpp"
#include "core/measure/statistics.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Unit;
using Cases = std::span<const CaseReport>;

// From one size of the working set to the next: more than this is a step between two levels of the memory.
constexpr double step_factor = 1.4;
// What cannot be is still allowed this much: the clock, and lines that a prefetcher brought.
constexpr double impossible_factor = 1.1;

// "bandwidth: PART; PART"; nothing where there are no parts.
void add_sentence(std::vector<std::string>& sentences, std::string_view subject, const std::vector<std::string>& parts,
                  std::string_view separator)
{
    if (!parts.empty()) {
        sentences.push_back(fmt::format("{}: {}", subject, fmt::join(parts, separator)));
    }
}

std::string text_of(const CaseReport& one, std::string_view name)
{
    return value_on(one, name).value_or("");
}

std::int64_t number_of(const CaseReport& one, std::string_view name)
{
    const auto found = std::ranges::find(one.params, name, &model::Param::name);
    const auto* number = found == one.params.end() ? nullptr : std::get_if<std::int64_t>(&found->value);
    return number == nullptr ? 0 : *number;
}

// A measured case of a scenario, with the median of one of its metrics.
struct ProbedCase {
    const CaseReport* report{};
    double median{};
};

template <typename Wanted>
std::vector<ProbedCase> measured(Cases cases, std::string_view scenario, std::string_view metric, Wanted wanted)
{
    std::vector<ProbedCase> found;
    for (const CaseReport& one : cases) {
        const auto median =
            one.scenario == scenario && one.status == model::Status::ok ? case_median(one, {}, metric) : std::nullopt;
        if (median && wanted(one)) {
            found.push_back({&one, *median});
        }
    }
    return found;
}

std::vector<ProbedCase> measured(Cases cases, std::string_view scenario, std::string_view metric)
{
    return measured(cases, scenario, metric, [](const CaseReport&) { return true; });
}

std::optional<ProbedCase> best(const std::vector<ProbedCase>& found)
{
    const auto most = std::ranges::max_element(found, {}, &ProbedCase::median);
    return most == found.end() ? std::nullopt : std::optional{*most};
}

// nullptr: none has this value of a parameter.
const ProbedCase* with_number(const std::vector<ProbedCase>& found, std::string_view name, std::int64_t number)
{
    const auto one =
        std::ranges::find(found, number, [&](const ProbedCase& each) { return number_of(*each.report, name); });
    return one == found.end() ? nullptr : &*one;
}

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
        const bool climbs = by_size[i + 1].median > step_factor * by_size[i].median;
        if (climbs && !climbing) {
            found.push_back(by_size[i]);
        }
        climbing = climbs;
    }
    found.push_back(by_size.back());
    return found;
}

// What other work adds to a latency it never takes away: the least sample is nearest to the memory's own.
double least_of(const ProbedCase& one)
{
    const model::Metric* const metric = model::find_metric(*one.report, "latency");
    return metric != nullptr && metric->summary ? metric->summary->min : one.median;
}

void add_latency(Cases cases, std::vector<std::string>& sentences)
{
    for (const auto& [pages, by_size] : latencies(cases)) {
        std::vector<std::string> parts;
        for (const ProbedCase& level : levels(by_size)) {
            const auto bytes = static_cast<std::uint64_t>(number_of(*level.report, "size"));
            parts.push_back(fmt::format("{} {} {}", format_value(Unit::seconds, least_of(level)),
                                        level.report == by_size.back().report ? "at" : "up to",
                                        base::exact_size(bytes)));
        }
        sentences.push_back(
            fmt::format("a load on {} pages takes {} (least of the samples)", pages, fmt::join(parts, ", ")));
    }
}

void add_parallel_loads(Cases cases, std::vector<std::string>& sentences)
{
    const auto chains = measured(cases, "probe_parallel_loads", "bandwidth");
    const ProbedCase* const one = with_number(chains, "chains", 1);
    const auto most = best(chains);
    if (one != nullptr && most && most->report != one->report) {
        sentences.push_back(fmt::format("{} chains of loads at once bring {} times what one brings: {}",
                                        number_of(*most->report, "chains"), format_factor(most->median / one->median),
                                        format_value(Unit::bytes_per_second, most->median)));
    }
    const auto loaded = measured(cases, "probe_loaded_latency", "latency");
    const ProbedCase* const idle = with_number(loaded, "load", 0);
    const ProbedCase* const busy = with_number(loaded, "load", 100);
    if (idle != nullptr && busy != nullptr) {
        sentences.push_back(fmt::format("a load takes {} the time while the other processors stream: {} against {}",
                                        factor_text(*idle->report, *busy->report, "latency"),
                                        format_value(Unit::seconds, busy->median),
                                        format_value(Unit::seconds, idle->median)));
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

void add_devices(Cases cases, std::vector<std::string>& sentences)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> transfers{
        {{"host_to_device_memcpy_ce", "from pinned host memory"},
         {"device_to_host_memcpy_ce", "to it"},
         {"device_local_copy", "within"}}};
    std::map<std::string, std::vector<std::string>> by_device;
    for (const auto& [transfer, spoken_as] : transfers) {
        for (const ProbedCase& one : measured(cases, "probe_device", "bandwidth", [&](const CaseReport& report) {
                 return text_of(report, "transfer") == transfer;
             })) {
            by_device[text_of(*one.report, "device")].push_back(
                fmt::format("{} {}", format_value(Unit::bytes_per_second, one.median), spoken_as));
        }
    }
    for (const auto& [device, parts] : by_device) {
        sentences.push_back(fmt::format("{} copies {}", device, fmt::join(parts, ", ")));
    }
}

// By the interval; where there are too few repetitions for one, by as much more as a step between two levels.
bool shown_above(const CaseReport& base, const CaseReport& other, std::string_view metric, double factor)
{
    const Shift shift = case_shift(base, other, metric).value();
    return shift.is_ratio &&
           (shift.interval ? shift.interval->front() > factor : shift.estimate > factor * step_factor);
}

// A larger working set is never nearer to the processor: where its loads are faster beyond noise, something else ran
// beside the smaller one. Said of the worst pair of neighbours for each kind of pages.
void add_falling_latency(Cases cases, std::vector<std::string>& sentences)
{
    for (const auto& [pages, by_size] : latencies(cases)) {
        const ProbedCase* slow = nullptr;
        const ProbedCase* fast = nullptr;
        for (std::size_t i = 0; i + 1 < by_size.size(); ++i) {
            const ProbedCase& small = by_size[i];
            const ProbedCase& large = by_size[i + 1];
            const bool worst = slow == nullptr || small.median / large.median > slow->median / fast->median;
            if (worst && shown_above(*large.report, *small.report, "latency", impossible_factor)) {
                slow = &small;
                fast = &large;
            }
        }
        if (slow != nullptr) {
            const auto size = [](const ProbedCase& one) {
                return base::exact_size(static_cast<std::uint64_t>(number_of(*one.report, "size")));
            };
            sentences.push_back(fmt::format(
                "latency is not trustworthy here: a load on {} pages takes {} at {} and {} at {}, but a larger working "
                "set is never faster; something else ran beside it",
                pages, format_value(Unit::seconds, slow->median), size(*slow),
                format_value(Unit::seconds, fast->median), size(*fast)));
        }
    }
}

// n chains load at most n times as much as one.
void add_impossible_chains(Cases cases, std::vector<std::string>& sentences)
{
    const auto chains = measured(cases, "probe_parallel_loads", "bandwidth");
    const ProbedCase* const one = with_number(chains, "chains", 1);
    const ProbedCase* worst = nullptr;
    const auto excess = [&](const ProbedCase& found) {
        return found.median / one->median / static_cast<double>(number_of(*found.report, "chains"));
    };
    for (const ProbedCase& found : chains) {
        const auto count = static_cast<double>(number_of(*found.report, "chains"));
        if (one != nullptr && count > 1 && (worst == nullptr || excess(found) > excess(*worst)) &&
            shown_above(*one->report, *found.report, "bandwidth", count * impossible_factor)) {
            worst = &found;
        }
    }
    if (worst != nullptr) {
        const std::int64_t count = number_of(*worst->report, "chains");
        sentences.push_back(fmt::format("parallel loads are not trustworthy here: {0} chains bring {1} times what one "
                                        "brings, but {0} chains cannot bring more than {0} times as much; something "
                                        "else ran beside the one",
                                        count, format_factor(worst->median / one->median)));
    }
}

}  // namespace

std::vector<std::string> implausible_probe_sentences(std::span<const CaseReport> cases)
{
    std::vector<std::string> sentences;
    add_falling_latency(cases, sentences);
    add_impossible_chains(cases, sentences);
    return sentences;
}

std::vector<std::string> probe_sentences(std::span<const CaseReport> cases)
{
    std::vector<std::string> sentences;
    add_bandwidth(cases, sentences);
    add_stores(cases, sentences);
    add_latency(cases, sentences);
    add_parallel_loads(cases, sentences);
    add_faults(cases, sentences);
    add_devices(cases, sentences);
    return sentences;
}

}  // namespace memsweep::measure
