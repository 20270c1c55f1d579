// "assert": the claims of a scenario, parsed and checked against the axes and the points that the cases sample.
//
// Errors   into Diagnostics: the expression in the parser's words, unknown axes, values and points.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/model/assertion.hpp"
#include "scenarios/reader/axes.hpp"

namespace memsweep::model {
struct Step;
}

namespace memsweep::scenarios {

// Reads the text of "expr" and parses it. False if either failed, which is reported.
[[nodiscard]] bool read_expression(const Fields& fields, model::Assertion& assertion);

// The names of all points that these steps take.
void collect_points(const std::vector<model::Step>& steps, std::set<std::string>& points);

// The same from the file itself, even if a step has other mistakes, so that one mistake is not reported twice.
void collect_points(const SourceNode& steps, std::set<std::string>& points);

[[nodiscard]] std::vector<model::Assertion>
read_assertions(const SourceNode& node, const Axes& axes, const std::set<std::string>& points, const Reading& reading);

}  // namespace memsweep::scenarios
