// Results of one scenario from many hosts as a fleet: one result after the other, each reduced to its medians.
//
// Several results of one host (several ranks, or several runs) count as more repetitions of it. A host has the name
// that its launcher gave it (SLURMD_NODENAME), else its host name.
//
// Cost     linear in the size of the results.
// Memory   the values of all repetitions, 8 bytes each, until finish(); nothing else of the cases.
// Errors   invalid_input, with the result's name: another scenario than the first's (unless forced), a run that another
//          result holds already, a metric with another unit. Of probes the same name is enough, since the machine
//          decides which cases there are.
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
#include "core/model/fleet.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Parameters that name the two hosts of a link: such a case is a cell of a matrix, not a quantity of one host.
inline constexpr std::string_view from_host_param = "from";
inline constexpr std::string_view to_host_param = "to";

struct Expectation {
    std::optional<std::size_t> hosts;  // how many should be there
    std::vector<std::string> names;    // who; may be empty
};

[[nodiscard]] std::string host_name(const model::RunReport& report);

// Cases that are neither ok nor skipped, and what else does not hold and must.
[[nodiscard]] std::vector<model::FleetProblem> problems_of(const model::RunReport& report);

class FleetBuilder {
  public:
    explicit FleetBuilder(bool force) : force_{force} {}

    [[nodiscard]] base::Expected<void> add(const std::string& source, const model::RunReport& report);

    // At least one result was added. `tags`: of hosts by name, besides those that their results carry.
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
    std::string nodes_;  // of the job, as a result's launcher wrote them
    bool any_unlike_{};
    std::map<std::string, std::string> owners_;  // of run ids
    std::unordered_map<std::string, std::size_t> hosts_;
    std::unordered_map<std::string, std::size_t> metrics_;
    std::size_t next_metric_{};   // results hold the same metrics in the same order, so this is a good guess
    std::vector<Values> values_;  // by metric
    std::map<std::string, Link> links_;
};

}  // namespace memsweep::measure
