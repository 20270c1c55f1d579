// Where and how a result came about, as lines of a name and a text.
#pragma once

#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::reporters {

struct Fact {
    std::string name;
    std::string text;
};

[[nodiscard]] std::vector<Fact> run_facts(const model::RunReport& report);      // scenario, command, times, seed, tool
[[nodiscard]] std::string harness_line(const model::Calibration& calibration);  // empty when it was not measured
[[nodiscard]] std::vector<Fact> machine_facts(const model::Machine& machine);   // what the figures depend on

[[nodiscard]] std::string machine_line(const model::Machine& machine);  // the same in one sentence

}  // namespace memsweep::reporters
