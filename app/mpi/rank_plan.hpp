// Transfers between ranks, from scenario files and from the command line, as tests of links: every rank computes the
// same list.
//
// Each transfer step is one test: its transfers run at once, and whoever is named in none of them waits. A repetition
// is a sample, and sends "times" messages.
// Errors   of load_plans: all that is wrong with the files, as memsweep validate says it.
#pragma once

#include <string>
#include <vector>

#include "app/mpi/link_plan.hpp"
#include "core/base/error.hpp"
#include "core/model/plan.hpp"
#include "core/model/transfer.hpp"

namespace memsweep::mpi {

struct RankPlans {
    std::vector<model::Plan> plans;
    std::vector<base::Error> errors;  // empty: all were read
};

// Scenarios by file or by the name of one that ships.
[[nodiscard]] RankPlans load_plans(const std::vector<std::string>& files);

// Those of the command line, all at once: no "times", so that a sample takes the time that links take.
[[nodiscard]] model::Plan plan_of(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                                  std::uint32_t samples);

// Where this many ranks are not what a plan needs, its tests say so and are not run.
void add_tests(const model::Plan& plan, int ranks, std::vector<LinkTest>& tests);

}  // namespace memsweep::mpi
