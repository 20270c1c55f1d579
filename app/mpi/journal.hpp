// The results of one rank: the cases that it measures by itself, the links on which it sends, and the links on which it
// receives. The result file is rewritten after every step.
//
// A link is a case with the parameters `from` and `to`. A host has results, too: for each message pattern
// (link_plan.hpp) except the ring, the value of the best link on which the host sends, and of the best link on which it
// receives. Because only the best link counts, one slow host does not make all other hosts look slow. The slow host
// itself is visible, because all its links are slow. Transfers of a scenario are cases with the scenario's name and
// axes, and its assertions are checked.
//
// Errors   io: the file cannot be read; invalid_input: with --resume, the existing file is the result of a different
//          run.
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
    // Returns the indices (into `plan`) of those tests that have a result for every flow that this rank sends.
    [[nodiscard]] std::set<std::size_t> held(const std::vector<LinkTest>& plan) const;

    void add_own(const model::RunReport& measured);
    void add_links(const LinkTest& test, const std::vector<FlowOutcome>& outcomes);
    void add_unmet(const LinkTest& test);  // adds the cases of the test as skipped; the reason is LinkTest::unmet
    void write(bool finished);             // prints an error if the file cannot be written

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
