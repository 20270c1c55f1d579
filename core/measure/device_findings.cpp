#include "core/measure/device_findings.hpp"

#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/format.hpp"
#include "core/measure/probed_cases.hpp"

namespace memsweep::measure {
namespace {

using model::Unit;
using Cases = std::span<const model::CaseReport* const>;

using Transfers = std::map<std::string, ProbedCase, std::less<>>;  // by their names

std::map<std::string, Transfers> transfers_by_device(Cases cases, std::string_view metric)
{
    std::map<std::string, Transfers> found;
    for (const ProbedCase& one : measured(cases, "probe_device", metric)) {
        found[text_of(*one.report, "device")].emplace(text_of(*one.report, "transfer"), one);
    }
    return found;
}

struct SpokenTransfer {
    std::string_view name, spoken_as;
};

// "55.3 GB/s to it" of each that was measured.
std::vector<std::string> parts_of(const Transfers& transfers, std::span<const SpokenTransfer> wanted, Unit unit,
                                  double ProbedCase::*value)
{
    std::vector<std::string> parts;
    for (const auto& [name, spoken_as] : wanted) {
        if (const auto one = transfers.find(name); one != transfers.end()) {
            parts.push_back(fmt::format("{} {}", format_value(unit, one->second.*value), spoken_as));
        }
    }
    return parts;
}

void add_copies(Cases cases, std::vector<std::string>& sentences)
{
    static constexpr std::array copies{SpokenTransfer{"host_to_device_memcpy_ce", "from pinned host memory"},
                                       SpokenTransfer{"device_to_host_memcpy_ce", "to it"},
                                       SpokenTransfer{"device_local_copy", "within"}};
    for (const auto& [device, transfers] : transfers_by_device(cases, "bandwidth")) {
        const auto parts = parts_of(transfers, copies, Unit::bytes_per_second, &ProbedCase::median);
        if (!parts.empty()) {
            sentences.push_back(fmt::format("{} copies {}", device, fmt::join(parts, ", ")));
        }
    }
}

// Ordinary memory: what staging it is worth.
void add_staging(Cases cases, std::vector<std::string>& sentences)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 2> ways{
        {{"host_to_device", "to it"}, {"device_to_host", "back"}}};
    for (const auto& [device, transfers] : transfers_by_device(cases, "bandwidth")) {
        std::vector<std::string> parts;
        for (const auto& [way, spoken_as] : ways) {
            const auto staged = transfers.find(fmt::format("{}_staged", way));
            const auto handed = transfers.find(fmt::format("{}_pageable", way));
            if (staged != transfers.end() && handed != transfers.end()) {
                parts.push_back(fmt::format("{} {} staged, {} by its driver's own copy",
                                            format_value(Unit::bytes_per_second, staged->second.median), spoken_as,
                                            format_value(Unit::bytes_per_second, handed->second.median)));
            }
        }
        add_sentence(sentences, fmt::format("ordinary host memory and {}", device), parts, "; ");
    }
}

void add_loads(Cases cases, std::vector<std::string>& sentences)
{
    static constexpr std::array loads{SpokenTransfer{"host_device_latency_sm", "from host memory"},
                                      SpokenTransfer{"device_local_latency_sm", "from its own"},
                                      SpokenTransfer{"device_l2_latency_sm", "from its last cache"}};
    for (const auto& [device, transfers] : transfers_by_device(cases, "latency")) {
        add_sentence(sentences, fmt::format("a load of a kernel on {} takes (least of the samples)", device),
                     parts_of(transfers, loads, Unit::seconds, &ProbedCase::best), "; ");
    }
}

}  // namespace

std::vector<std::string> device_sentences(Cases cases)
{
    std::vector<std::string> sentences;
    add_copies(cases, sentences);
    add_staging(cases, sentences);
    add_loads(cases, sentences);
    return sentences;
}

}  // namespace memsweep::measure
