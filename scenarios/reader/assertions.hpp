// "assert": the claims of a scenario, parsed and checked against the axes and the points that the cases sample.
//
// Errors   into Diagnostics: mistakes of an expression, in the parser's words; unknown axes, values and points.
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

// Reads the text of "expr" and parses it. False: one of them failed, and the mistake was reported.
[[nodiscard]] bool read_expression(const Fields& fields, model::Assertion& assertion);

// The names of all points that these steps take.
void collect_points(const std::vector<model::Step>& steps, std::set<std::string>& points);

// The same from the file itself. This includes points of steps with other mistakes, so that a claim about such a point
// is not reported as another mistake.
void collect_points(const SourceNode& steps, std::set<std::string>& points);

[[nodiscard]] std::vector<model::Assertion>
read_assertions(const SourceNode& node, const Axes& axes, const std::set<std::string>& points, const Reading& reading);

}  // namespace memsweep::scenarios
