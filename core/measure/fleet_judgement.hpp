// What a fleet shows: which hosts are not like the others, on what evidence, and what they have in common.
//
// Hosts are compared with hosts of their kind (processor model and cores). Every quantity of every host is judged as
// peers.hpp says. The p are adjusted so that at most 1 % of the hosts named by them are expected to be like the others
// (multiple_testing.hpp: groups). A host is bad when it is an outlier on the worse side of a quantity, when one of its
// cases or limits failed, or when it did not finish. Parts of a time (fault_time, allocator_time, ...) are not judged
// beside the time itself.
//
// Sources  what bad hosts share: the hypergeometric probability that as many of them carry a tag by chance, adjusted
//          over all tags. Facts (memory, kernel, ...): by majority, where nine of ten hosts of a kind agree.
// Errors   none: what cannot be judged is not named, and `unjudged` says why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/measure/findings.hpp"
#include "core/measure/peers.hpp"
#include "core/model/fleet.hpp"

namespace memsweep::measure {

inline constexpr double fleet_false_share = 0.01;  // of the hosts that are named

struct Outlier {
    std::size_t host{};
    std::size_t metric{};
    PeerRule rule{};
    double value{};   // the host's median
    double median{};  // of the hosts of its kind
    double z{};
    std::optional<double> q;
    bool is_worse{};
};

struct OddFact {
    std::size_t host{};
    std::string fact, value, usual;  // "memory", "224 GiB", "256 GiB"
    std::size_t agreeing{};          // hosts that have the usual value
};

struct SharedTag {
    std::string name, value;
    std::size_t bad{}, hosts{};  // carry it: of the bad hosts, of all
    double q{};
};

struct BadHost {
    std::size_t host{};
    std::vector<std::size_t> outliers;  // indices, the furthest out first; those on the better side are not among them
};

// A quantity over the hosts of one kind.
struct Spread {
    std::size_t metric{};
    std::size_t kind{};
    PeerJudgement judgement;  // without its deviations
};

struct FleetJudgement {
    std::vector<std::string> kinds;  // "CPU, 64 cores": the largest first
    std::vector<std::size_t> kind;   // of each host
    std::vector<Spread> spreads;
    std::vector<Outlier> outliers;  // the furthest out first
    std::vector<OddFact> odd_facts;
    std::vector<BadHost> bad;  // the worst first
    std::vector<SharedTag> shared;
    std::vector<std::size_t> tests;  // of each host
    std::vector<std::string> unjudged;
};

[[nodiscard]] FleetJudgement judge_fleet(const model::Fleet& fleet);

// Nothing bad, nobody missing.
[[nodiscard]] bool is_healthy(const model::Fleet& fleet, const FleetJudgement& judgement);

// "bandwidth of probe_bandwidth/kernel=read,...: 11.2 GB/s instead of 22.4 GB/s (0.50x, z -31, q 1e-9)"
[[nodiscard]] std::string outlier_text(const model::Fleet& fleet, const Outlier& outlier);

[[nodiscard]] std::vector<Finding> fleet_findings(const model::Fleet& fleet, const FleetJudgement& judgement);

}  // namespace memsweep::measure
