// Whether two results may be compared at all: the same scenario, on the same kind of machine.
//
// Sources  the fingerprints decide. Scenarios of different ones are alike all the same where other assertions, or cases
//          that only one of them has, explain it: what both have must be the same by the cases' own fingerprints. The
//          facts that went into them name what differs. A file that a program reads is in no fingerprint: its contents
//          are compared where both results know them.
//          Probes of two machines are alike: the machines are what they compare. So are their cases, which follow from
//          the machine, where they were probed in the same way.
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
    std::map<std::string, std::string> cases;  // by id: its own fingerprint; empty: not known
    std::map<std::string, std::string> overrides;
    std::set<std::string> assertions;
    std::map<std::string, std::string> inputs;  // what cases read, by id, where that is known
};

[[nodiscard]] ScenarioFacts scenario_facts(const model::RunReport& report);

// "the scenarios differ: ..."; empty when they are alike.
// Across machines it is enough that what both have is the same.
[[nodiscard]] std::string scenario_difference(const ScenarioFacts& base, const ScenarioFacts& candidate,
                                              bool across_machines = false);

// "the machines differ: 2 cores against 4, ..."; empty when the fingerprints agree.
[[nodiscard]] std::string machine_difference(const model::Machine& base, const model::Machine& candidate);

// Both of the above, as far as they are not empty.
[[nodiscard]] std::vector<std::string> differences(const model::RunReport& base, const model::RunReport& candidate);

// Whether a result is about a machine: made by `probe`, or by a scenario of the catalog that does its work.
[[nodiscard]] bool is_probe(const model::RunReport& report);

// How the machines of two probes differ that were made in the same way: what their comparison is about. Empty: they are
// no such probes, or of one kind of machine.
[[nodiscard]] std::string compared_machines(const model::RunReport& base, const model::RunReport& candidate);

// "kernel 6.1 against 6.6", ...: what the fingerprints leave out and numbers may depend on all the same.
[[nodiscard]] std::vector<std::string> setting_differences(const model::RunReport& base,
                                                           const model::RunReport& candidate);

}  // namespace memsweep::measure
