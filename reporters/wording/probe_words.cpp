#include "reporters/wording/probe_words.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"

namespace memsweep::reporters {
namespace {

using measure::Contradiction;
using measure::Finding;
using measure::FindingKind;
using measure::format_factor;
using measure::format_value;
using measure::MetricEffect;
using measure::number_of;
using measure::text_of;
using model::CaseReport;

std::string size_text(const CaseReport& one)
{
    return base::exact_size(static_cast<std::uint64_t>(number_of(one, "size")));
}

std::string value_of(const measure::ProbedCase& one, const Contradiction& of)
{
    return format_value(model::Unit::seconds, of.by_best ? one.best : one.median);
}

std::string_view basis_text(const Contradiction& of)
{
    return of.by_best ? "" : " in the median";
}

// "23"
std::string times_text(const Contradiction& chains)
{
    return format_factor(chains.by_best ? chains.other.best / chains.base.best
                                        : chains.other.median / chains.base.median);
}

std::string value_of(const MetricEffect& figure)
{
    return format_value(figure.unit, *figure.value);
}

// "1.35x [1.30, 1.41]"
std::string factor_text(const MetricEffect& figure)
{
    const auto& interval = figure.effect->interval;
    return fmt::format("{}x{}", format_factor(figure.effect->estimate),
                       interval
                           ? fmt::format(" [{}, {}]", format_factor(interval->front()), format_factor(interval->back()))
                           : std::string{});
}

std::string threads_of(const MetricEffect& figure)
{
    const std::int64_t threads = number_of(*figure.of, "threads");
    return threads == 1 ? "one thread" : fmt::format("{} threads", threads);
}

// "one thread: 24.1 GB/s read, 20.4 GB/s copied, 21.9 GB/s in a triad; 4 threads: ..."
std::string rates_text(const std::vector<MetricEffect>& figures)
{
    std::string text;
    std::string before;
    for (const MetricEffect& one : figures) {
        const std::string threads = threads_of(one);
        const std::string kernel = text_of(*one.of, "kernel");
        text += threads == before ? ", " : fmt::format("{}{}: ", text.empty() ? "" : "; ", threads);
        text += fmt::format("{} {}", value_of(one),
                            kernel == "copy"    ? "copied"
                            : kernel == "triad" ? "in a triad"
                                                : kernel);
        before = threads;
    }
    return text;
}

std::string levels_text(const std::vector<MetricEffect>& figures)
{
    std::vector<std::string> parts;
    for (const MetricEffect& one : figures) {
        parts.push_back(
            fmt::format("{} {} {}", value_of(one), &one == &figures.back() ? "at" : "up to", size_text(*one.of)));
    }
    return fmt::format("a load on {} pages takes {} (least of the samples)", text_of(*figures.front().of, "pages"),
                       fmt::join(parts, ", "));
}

// What a transfer of a device is called in a sentence.
std::string_view spoken_transfer(const CaseReport& report)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> transfers{
        {{"host_to_device_memcpy_ce", "from pinned host memory"},
         {"device_to_host_memcpy_ce", "to it"},
         {"device_local_copy", "within"},
         {"host_to_device_staged", "to it staged"},
         {"device_to_host_staged", "back staged"},
         {"host_device_latency_sm", "from host memory"},
         {"device_local_latency_sm", "from its own"},
         {"device_l2_latency_sm", "from its last cache"}}};
    const std::string name = text_of(report, "transfer");
    const auto found = std::ranges::find(transfers, name, &std::pair<std::string_view, std::string_view>::first);
    return found == transfers.end() ? std::string_view{} : found->second;
}

// "a load takes: PART; PART", of each figure its part.
template <typename Part>
std::string parts_text(const std::vector<MetricEffect>& figures, std::string_view subject, std::string_view separator,
                       const Part& part)
{
    std::vector<std::string> parts;
    for (const MetricEffect& one : figures) {
        parts.push_back(part(one));
    }
    return fmt::format("{}{}", subject, fmt::join(parts, separator));
}

std::string transfer_text(const MetricEffect& one)
{
    return fmt::format("{} {}", value_of(one), spoken_transfer(*one.of));
}

}  // namespace

std::string probe_text(const Finding& finding)
{
    const std::vector<MetricEffect>& figures = finding.metrics;
    const MetricEffect& first = figures.front();
    const std::string device = text_of(*first.of, "device");
    switch (finding.kind) {
    case FindingKind::probe_bandwidth:
        return "bandwidth, bytes read and written: " + rates_text(figures);
    case FindingKind::probe_stores:
        return parts_text(figures, "non-temporal stores copy at this multiple of plain ones: ", ", ",
                          [](const auto& one) { return fmt::format("{} by {}", factor_text(one), threads_of(one)); });
    case FindingKind::probe_zeroes:
        return parts_text(figures,
                          "zeroes are written at this multiple of other data's rate, so a benchmark that writes zeroes "
                          "measures another machine: ",
                          ", ", [](const auto& one) {
                              return fmt::format("{} by {} ({})", factor_text(one), threads_of(one),
                                                 text_of(*one.of, "store"));
                          });
    case FindingKind::probe_latency:
        return levels_text(figures);
    case FindingKind::probe_chains:
        return fmt::format("{} chains of loads at once bring {} times what one brings: {}",
                           number_of(*first.of, "chains"), format_factor(*first.value / *first.base_value),
                           value_of(first));
    case FindingKind::probe_loaded_latency:
        return fmt::format("a load takes {}x the time while the other processors stream: {} against {} (least of the "
                           "samples)",
                           format_factor(*first.value / *first.base_value), value_of(first),
                           format_value(first.unit, *first.base_value));
    case FindingKind::probe_faults:
        return parts_text(figures, "a page fault costs: ", "; ", [](const auto& one) {
            return fmt::format("{} {}, {} pages", value_of(one), measure::spoken(text_of(*one.of, "kind")),
                               text_of(*one.of, "pages"));
        });
    case FindingKind::device_copies:
        return parts_text(figures, device + " copies ", ", ", transfer_text);
    case FindingKind::device_staging:
        return parts_text(figures, fmt::format("ordinary host memory and {}: ", device), "; ", [](const auto& one) {
            return fmt::format("{}, {} by its driver's own copy", transfer_text(one),
                               format_value(one.unit, *one.base_value));
        });
    default:
        return parts_text(figures, fmt::format("a load of a kernel on {} takes (least of the samples): ", device), "; ",
                          transfer_text);
    }
}

std::string contradiction_text(const Contradiction& one)
{
    if (one.kind == FindingKind::implausible_latency) {
        return fmt::format("latency is not trustworthy here: a load on {} pages takes {} at {} and {} at {}{}, but a "
                           "larger working set is never faster; something else ran beside it",
                           text_of(*one.base.report, "pages"), value_of(one.base, one), size_text(*one.base.report),
                           value_of(one.other, one), size_text(*one.other.report), basis_text(one));
    }
    if (one.kind == FindingKind::implausible_chains) {
        return fmt::format(
            "parallel loads are not trustworthy here: {0} chains bring {1} times what one brings{2}, but "
            "{0} chains cannot bring more than {0} times as much; something else ran beside the one",
            number_of(*one.other.report, "chains"), times_text(one), basis_text(one));
    }
    return fmt::format("latency under load is not trustworthy here: a load takes {} with idle memory and {} while the "
                       "other processors stream{}, but a load is never faster for that; something else ran beside the "
                       "first",
                       value_of(one.base, one), value_of(one.other, one), basis_text(one));
}

std::string doubt_text(const Contradiction& one)
{
    switch (one.kind) {
    case FindingKind::implausible_latency:
        return fmt::format("slower than at {}{}", size_text(*one.other.report), basis_text(one));
    case FindingKind::implausible_chains:
        return fmt::format("{} times one chain{}", times_text(one), basis_text(one));
    default:
        return fmt::format("slower than under load{}", basis_text(one));
    }
}

}  // namespace memsweep::reporters
