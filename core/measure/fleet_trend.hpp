// Two runs of one fleet: how each quantity changed over the hosts that both have, and which host changed unlike the
// others.
//
// Every host is compared with itself, so that what differs between hosts cancels. A quantity changed when the median of
// the hosts' changes did, by its size, its interval and its test together, as in any comparison (verdict.hpp). A host
// changed unlike the others when its own change is an outlier among theirs (peers.hpp).
//
// Units    ratios candidate / base; differences where a value is 0 or negative.
// Sources  the sign test, two-sided, and the interval of the median that belongs to it; Benjamini-Hochberg over all
//          quantities; over hosts as in fleet_judgement.hpp.
// Errors   invalid_input: the two have no quantity or no host in common, or measured different scenarios (unless
//          forced).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/measure/fleet_judgement.hpp"
#include "core/measure/nonparametric.hpp"
#include "core/measure/thresholds.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/fleet.hpp"

namespace memsweep::measure {

struct FleetChange {
    std::string scenario, case_id, metric;
    model::Unit unit{};
    std::size_t hosts{};         // that both measured it on
    double base{}, candidate{};  // medians over them
    Shift shift;
    std::optional<double> q;
    Verdict verdict{};
    std::string why;
};

struct HostChange {
    std::string host;
    std::string case_id, metric;
    model::Unit unit{};
    double base{}, candidate{};
    double usual{};  // the hosts' median change, as a ratio
    double z{};
    std::optional<double> q;
    bool is_worse{};
};

struct FleetTrend {
    std::string base_name, candidate_name;
    std::size_t hosts{};  // in both
    std::vector<FleetChange> changes;
    std::vector<HostChange> outlying;  // the furthest out first
    std::vector<std::string> newly_bad, recovered, still_bad;
    std::vector<std::string> gone, added;  // hosts
};

struct NamedFleet {
    std::string name;
    const model::Fleet* fleet{};
};

[[nodiscard]] base::Expected<FleetTrend> compare_fleets(const NamedFleet& base, const NamedFleet& candidate,
                                                        const Thresholds& thresholds, bool force);

[[nodiscard]] std::size_t count_changes(const FleetTrend& trend, Verdict verdict);

}  // namespace memsweep::measure
