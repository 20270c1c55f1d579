// What one rank has measured, on disk after every step: its own cases, and both ends' view of the links it takes part
// in.
//
// A link is a case with the parameters `from` and `to`. For each pattern, a host's own figure is its best link,
// separately for sending and receiving. So one slow host does not make the others look slow. It looks slow itself,
// because all of its links are. Transfers of scenarios are cases under the scenario's name, with its axes, and are
// checked by its assertions.
//
// Errors   io: the file cannot be written; invalid_input: with resume, another run's result lies there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/mpi/comm.hpp"
#include "app/mpi/link_plan.hpp"
#include "app/mpi/link_test.hpp"
#include "app/mpi/mpi_options.hpp"
#include "core/base/expected.hpp"
#include "core/model/report.hpp"

namespace memsweep::mpi {

class Journal {
  public:
    [[nodiscard]] static base::Expected<Journal> open(const MpiOptions& options, const Comm& comm);

    [[nodiscard]] bool has_own() const { return has_own_; }
    // The numbers of the tests whose part this rank has sent.
    [[nodiscard]] std::set<std::size_t> held(const std::vector<LinkTest>& plan) const;

    void add_own(const model::RunReport& measured);
    void add_links(const LinkTest& test, const std::vector<FlowOutcome>& outcomes);
    void add_unmet(const LinkTest& test);  // skipped, for the reason that it says
    void write(bool finished);             // if it cannot write, it prints the error

    [[nodiscard]] std::string text() const;  // the result as JSON
    [[nodiscard]] const model::RunReport& report() const { return report_; }

  private:
    Journal(const MpiOptions& options, const Comm& comm) : options_{&options}, comm_{&comm} {}
    [[nodiscard]] model::CaseReport link_case(const LinkTest& test, const Flow& flow) const;
    void judge();
    void add_host_figures();

    const MpiOptions* options_;
    const Comm* comm_;
    std::string path_;
    bool has_own_{};
    model::RunReport report_;
};

}  // namespace memsweep::mpi
