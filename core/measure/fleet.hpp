// Combines the results of one scenario from many hosts into one result, a fleet. Also judges which hosts of a fleet
// differ from the other hosts, and how two runs of one fleet differ.
//
// Several results of one host (several ranks, or several runs) count as more repetitions. A host gets the name that the
// launcher of its run gave it (SLURMD_NODENAME). If the launcher gave it none, it gets its host name.
//
// Cost     linear in the size of the results.
// Memory   until finish(): the values of all repetitions, 8 bytes each. Nothing else of the cases is kept.
// Errors   invalid_input, with the name of the result that cannot be added: its scenario is not that of the first
//          result (unless forced), its run is already in another result, or the unit of a metric differs from that in
//          an earlier result. Scenarios of probes need only the same name, because the machine decides which cases they
//          have.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/measure/peers.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/fleet.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// The names of the two parameters that say from which host to which host a link leads. A case with these parameters is
// a cell of a matrix (model::FleetMatrix), not a quantity of one host.
inline constexpr std::string_view from_host_param = "from";
inline constexpr std::string_view to_host_param = "to";

struct Expectation {
    std::optional<std::size_t> hosts;  // how many hosts the fleet should have; absent: not known
    std::vector<std::string> names;    // their names; may be empty
};

[[nodiscard]] std::string host_name(const model::RunReport& report);

// Returns the cases that are neither ok nor skipped, and the failed assertions of severity `fail`. An assertion about a
// case that is returned already is left out.
[[nodiscard]] std::vector<model::FleetProblem> problems_of(const model::RunReport& report);

class FleetBuilder {
  public:
    explicit FleetBuilder(bool force) : force_{force} {}

    [[nodiscard]] base::Expected<void> add(const std::string& source, const model::RunReport& report);

    // Call this after at least one result was added. `tags`: by host name, the tags that the host gets in addition to
    // those in the results.
    [[nodiscard]] model::Fleet finish(const Expectation& expectation,
                                      const std::map<std::string, std::map<std::string, std::string>>& tags);

  private:
    using Values = std::vector<std::vector<double>>;  // by host
    using Cells = std::map<std::pair<std::string, std::string>, double>;
    struct Link {
        model::FleetMatrix matrix;
        Cells cells;
    };

    [[nodiscard]] base::Expected<void> check(const std::string& source, const model::RunReport& report);
    [[nodiscard]] std::size_t host_of(const model::RunReport& report);
    [[nodiscard]] base::Expected<void> add_case(const std::string& source, std::size_t host,
                                                const model::CaseReport& one);
    [[nodiscard]] std::size_t metric_of(const model::CaseReport& one, const model::Metric& metric);
    void add_link(const model::CaseReport& one, const std::string& from, const std::string& to);
    void name_missing(const Expectation& expectation);

    bool force_;
    model::Fleet fleet_;
    std::string nodes_;  // the nodes of the job, as the launcher of a result wrote them
    bool any_unlike_{};
    std::map<std::string, std::string> owners_;  // by run id: the name of the result that contains the run
    std::unordered_map<std::string, std::size_t> hosts_;
    std::unordered_map<std::string, std::size_t> metrics_;
    std::size_t next_metric_{};   // guess of the next metric: most results have the same metrics in the same order
    std::vector<Values> values_;  // by metric
    std::map<std::string, Link> links_;
};

// Judges a fleet: which hosts differ from the other hosts, on what evidence, and what the differing hosts have in
// common.
//
// A host is compared with the hosts of its kind (processor model and cores). peers.hpp judges every quantity of every
// host. The p values are adjusted (benjamini_bogomolov). Of the hosts that are named because of their p, at most 1 %
// are expected to be like the other hosts. A host is bad if it is an outlier on the worse side of a quantity. It is
// also bad if one of its cases, assertions or limits failed, or if its run was interrupted. Parts of a time
// (fault_time, allocator_time, ...) are not judged, because the whole time is.
//
// Sources  tags that bad hosts share: the hypergeometric probability that by chance at least as many bad hosts carry
//          the tag, adjusted over all tags. Odd facts (memory, kernel, ...): a value is usual if at least nine of ten
//          hosts of a kind have it. A host of this kind with another value is odd.
// Errors   none: hosts of a kind with too few hosts are not judged; `unjudged` lists such kinds.

inline constexpr double fleet_false_share = 0.01;  // expected share of wrongly named hosts among the named ones

struct Outlier {
    std::size_t host{};
    std::size_t metric{};
    PeerRule rule{};
    double value{};   // the host's median
    double median{};  // over the hosts of its kind
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
    std::size_t bad{}, hosts{};  // how many of the bad hosts, and of all hosts, carry the tag
    double q{};
};

struct BadHost {
    std::size_t host{};
    std::vector<std::size_t> outliers;  // indices of its outliers on the worse side, the furthest from the median first
};

// A quantity over the hosts of one kind.
struct Spread {
    std::size_t metric{};
    std::size_t kind{};
    PeerJudgement judgement;  // without its deviations
};

// A kind of host with too few hosts to compare them with each other.
struct SmallKind {
    std::string name;
    std::size_t hosts{};
};

struct FleetJudgement {
    std::vector<std::string> kinds;  // "CPU, 64 cores": the largest first
    std::vector<std::size_t> kind;   // by host
    std::vector<Spread> spreads;
    std::vector<Outlier> outliers;  // the furthest from the median first
    std::vector<OddFact> odd_facts;
    std::vector<BadHost> bad;  // the worst first
    std::vector<SharedTag> shared;
    std::vector<std::size_t> tests;  // number of tests, by host
    std::vector<SmallKind> unjudged;
};

[[nodiscard]] FleetJudgement judge_fleet(const model::Fleet& fleet);

// Whether no host is bad and no host is missing.
[[nodiscard]] bool is_healthy(const model::Fleet& fleet, const FleetJudgement& judgement);

// Compares two runs of one fleet: how each quantity changed over the hosts that both runs have, and which hosts changed
// differently from most hosts.
//
// Every host is compared with itself, so differences between hosts cancel. The median of the hosts' changes decides
// whether a quantity changed: by its size, its interval and a test, as in any comparison (verdict.hpp). A host is named
// if its own change is an outlier among the changes of the hosts (peers.hpp).
//
// Units    ratios candidate / base; if a value is 0 or negative, differences candidate - base.
// Sources  the two-sided sign test, and the median's interval that belongs to this test; Benjamini-Hochberg over all
//          quantities. Hosts: as in judge_fleet().
// Errors   invalid_input: the two runs have no quantity or no host in common, or measured different scenarios
//          (unless forced).

struct FleetChange {
    std::string scenario, case_id, metric;
    model::Unit unit{};
    std::size_t hosts{};         // hosts on which both runs measured the metric
    double base{}, candidate{};  // medians over these hosts
    Shift shift;
    std::optional<double> q;
    Verdict verdict{};
    Reason reason;
};

struct HostChange {
    std::string host;
    std::string case_id, metric;
    model::Unit unit{};
    double base{}, candidate{};
    double usual{};  // the median change of all hosts, as a ratio
    double z{};
    std::optional<double> q;
    bool is_worse{};
};

struct FleetTrend {
    std::string base_name, candidate_name;
    std::size_t hosts{};  // the number of hosts that both runs have
    std::vector<FleetChange> changes;
    std::vector<HostChange> outlying;  // the furthest from the median change first
    std::vector<std::string> newly_bad, recovered, still_bad;
    std::vector<std::string> gone, added;  // hosts only in the base, hosts only in the candidate
};

struct NamedFleet {
    std::string name;
    const model::Fleet* fleet{};
};

[[nodiscard]] base::Expected<FleetTrend> compare_fleets(const NamedFleet& base, const NamedFleet& candidate,
                                                        const Thresholds& thresholds, bool force);

[[nodiscard]] std::size_t count_changes(const FleetTrend& trend, Verdict verdict);

}  // namespace memsweep::measure
