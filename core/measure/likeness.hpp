// Decides whether two results may be compared at all: they must have the same scenario and the same kind of machine.
//
// Sources  the fingerprints decide. Scenarios with different fingerprints are still alike if only their assertions
//          differ, or if one of them has more cases. Either way, the cases that both have must have equal fingerprints.
//          Messages name the facts that make the fingerprints different. A file that a program reads is in no
//          fingerprint: its contents are compared if both results know them. Results of `probe` from two different
//          machines may be compared, because comparing machines is their purpose. If both machines were probed in the
//          same way, their cases may differ too, because the machine decides which cases there are.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// A scenario as results know it.
struct ScenarioFacts {
    std::string name;
    std::string fingerprint;
    std::map<std::string, std::string> cases;  // fingerprints of cases, by id; empty: not known
    std::map<std::string, std::string> overrides;
    std::set<std::string> assertions;
    // By case id, a text that identifies the contents of the files that the case reads. Cases for which it is not known
    // are left out.
    std::map<std::string, std::string> inputs;
};

[[nodiscard]] ScenarioFacts scenario_facts(const model::RunReport& report);

// Returns "the scenarios differ: ...", or an empty text if they are alike. With `across_machines`, scenarios are alike
// if the cases that both have are the same.
[[nodiscard]] std::string scenario_difference(const ScenarioFacts& base, const ScenarioFacts& candidate,
                                              bool across_machines = false);

// Returns "the machines differ: 2 cores against 4, ...", or an empty text if the fingerprints agree.
[[nodiscard]] std::string machine_difference(const model::Machine& base, const model::Machine& candidate);

// Returns the results of the two functions above, without empty texts.
[[nodiscard]] std::vector<std::string> differences(const model::RunReport& base, const model::RunReport& candidate);

// Whether a result is about a machine: made by `probe`, or by a catalog scenario that measures the same as `probe`.
[[nodiscard]] bool is_probe(const model::RunReport& report);

// Says how the machines of two probe results differ, because a comparison of such results compares the machines.
// Returns an empty text if the results are not probes that were made in the same way, or if their machines are of one
// kind.
[[nodiscard]] std::string compared_machines(const model::RunReport& base, const model::RunReport& candidate);

// Returns differences such as "kernel 6.1 against 6.6", in settings that are in no fingerprint although the measured
// values may depend on them.
[[nodiscard]] std::vector<std::string> setting_differences(const model::RunReport& base,
                                                           const model::RunReport& candidate);

}  // namespace memsweep::measure
