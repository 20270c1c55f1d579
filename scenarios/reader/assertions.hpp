// The key "assert": the assertions of a scenario. They are parsed, and checked against the axes of the scenario and
// against the points that its cases sample.
//
// Errors   into Diagnostics: mistakes in an expression, in the parser's words; unknown axes, values and points.
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

// Reads the text of "expr" and parses it. False: reading or parsing failed, and the mistake was reported.
[[nodiscard]] bool read_expression(const Fields& fields, model::Assertion& assertion);

// Adds the names of all points that these steps sample.
void collect_points(const std::vector<model::Step>& steps, std::set<std::string>& points);

// As above, for steps as the file has them, before they are checked. So points of steps with mistakes are included, and
// an assertion about such a point is not reported as a further mistake.
void collect_points(const SourceNode& steps, std::set<std::string>& points);

[[nodiscard]] std::vector<model::Assertion>
read_assertions(const SourceNode& node, const Axes& axes, const std::set<std::string>& points, const Reading& reading);

}  // namespace memsweep::scenarios
