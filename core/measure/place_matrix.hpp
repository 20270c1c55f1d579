// Matrices of processors against memory: the cases that differ only in the NUMA nodes of the two.
//
// Units    the metric's own; a cell is a median over the repetitions.
// Errors   none: what was not measured is absent, with the case's reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// Parameters that are numbers of NUMA nodes.
inline constexpr std::string_view cpu_node_param = "cpu_node";
inline constexpr std::string_view mem_node_param = "mem_node";

struct PlaceMatrix {
    struct Cell {
        std::optional<double> value;
        std::string reason;  // why there is none
    };
    std::string name;  // "numa_read": the scenario without "probe_", then the other parameters' values
    model::Unit unit{};
    model::Better better{};
    std::string row_role;
    std::string col_role;
    std::vector<std::string> rows;  // "node0", in order of appearance
    std::vector<std::string> cols;
    std::vector<std::vector<Cell>> cells;
};

// One for each scenario and setting of the other parameters that has cases with both nodes.
[[nodiscard]] std::vector<PlaceMatrix> place_matrices(const std::vector<model::CaseReport>& cases);

}  // namespace memsweep::measure
