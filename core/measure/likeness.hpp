// Decides whether two results may be compared at all: they must have the same scenario and the same kind of machine.
//
// Sources  the fingerprints decide. Scenarios with different fingerprints are still alike if the difference comes only
//          from assertions, or from cases that only one of them has. The cases that both have must have the same
//          fingerprints. The facts that went into the fingerprints name what differs. A file that a program reads is in
//          no fingerprint: its contents are compared if both results know them. Probes of two machines are alike,
//          because the machines are what they compare. Their cases follow from the machine, so they are alike too, if
//          the machines were probed in the same way.
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

// "the scenarios differ: ..."; empty when they are alike. Across machines it is enough that the cases that both have
// are the same.
[[nodiscard]] std::string scenario_difference(const ScenarioFacts& base, const ScenarioFacts& candidate,
                                              bool across_machines = false);

// "the machines differ: 2 cores against 4, ..."; empty when the fingerprints agree.
[[nodiscard]] std::string machine_difference(const model::Machine& base, const model::Machine& candidate);

// Both of the above, as far as they are not empty.
[[nodiscard]] std::vector<std::string> differences(const model::RunReport& base, const model::RunReport& candidate);

// Whether a result is about a machine: made by `probe`, or by a scenario of the catalog that does its work.
[[nodiscard]] bool is_probe(const model::RunReport& report);

// How the machines of two probes differ, if both were probed in the same way: this is what their comparison is about.
// Empty: they are no such probes, or of one kind of machine.
[[nodiscard]] std::string compared_machines(const model::RunReport& base, const model::RunReport& candidate);

// "kernel 6.1 against 6.6", ...: settings that the fingerprints leave out, although numbers may depend on them.
[[nodiscard]] std::vector<std::string> setting_differences(const model::RunReport& base,
                                                           const model::RunReport& candidate);

}  // namespace memsweep::measure
