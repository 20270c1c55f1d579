// The cases of results: their values and parameters, and which of them belong together. Also their phases as cases of
// their own, and matrices of cases that differ in their NUMA nodes.
//
// Ownership  pairs and groups point into the reports that they were made from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/statistics.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// The values of a metric: one per repetition, or one per point of that name (in the order sampled) when `point` is not
// empty. Empty when the case has no such metric or point.
[[nodiscard]] std::vector<std::optional<double>> case_values(const model::CaseReport& report, std::string_view point,
                                                             std::string_view metric);

// The median of these values; empty when there is none.
[[nodiscard]] std::optional<double> case_median(const model::CaseReport& report, std::string_view point,
                                                std::string_view metric);

// How far the values of a metric are shifted from one case to another; empty: one of them has none.
[[nodiscard]] std::optional<Shift> case_shift(const model::CaseReport& base, const model::CaseReport& other,
                                              std::string_view metric);

// The names of a case's points, in the order in which they were first sampled.
[[nodiscard]] std::vector<std::string_view> point_names(const model::CaseReport& report);

// The value of the parameter that `axis` names, as text; empty when there is none.
[[nodiscard]] std::optional<std::string> value_on(const model::CaseReport& report, std::string_view axis);

// The value of the parameter `mode`; empty when there is none.
[[nodiscard]] std::optional<std::string> mode_of(const model::CaseReport& report);

// "name=value".
[[nodiscard]] std::string param_text(const model::Param& param);

// "name=value" of every parameter but those of the axes named, in alphabetical order.
[[nodiscard]] std::vector<std::string> params_without(const model::CaseReport& report,
                                                      std::span<const std::string_view> axes);

[[nodiscard]] bool has_value(const model::CaseReport& report, const model::RatioOf& wanted);

// Two cases that belong together: the same case of two results, or two values of an axis within one.
struct CasePair {
    const model::CaseReport* base{};       // nullptr: only the candidate has it
    const model::CaseReport* candidate{};  // nullptr: only the base has it
};

// Pairs cases by scenario and case id: the base's cases in their order, then the cases that only the candidate has.
[[nodiscard]] std::vector<CasePair> pair_by_id(std::span<const model::CaseReport> base,
                                               std::span<const model::CaseReport> candidate);

// Pairs the cases of one axis value with those of another (`mode=finalizer` with `mode=refcount`). All other parameters
// are equal. If the two values are of different axes, both axes may differ.
//
// Cost     a look-up for each case, beside the pairs.
[[nodiscard]] std::vector<CasePair> pair_by_value(std::span<const model::CaseReport> cases, const model::RatioOf& base,
                                                  const model::RatioOf& candidate);

inline constexpr std::string_view mode_axis = "mode";

// Cases that differ on one axis only.
struct CaseGroup {
    std::vector<std::string> rest;  // what its cases share: the scenario, then the other parameters
    std::vector<const model::CaseReport*> cases;
    const model::CaseReport* base{};  // mode: refcount if there is one, else the first
};

// Cases that differ only in how they release memory, in the order in which they first appear. They have the status ok
// and a parameter `mode`.
[[nodiscard]] std::vector<CaseGroup> mode_groups(std::span<const model::CaseReport> cases);

// Cases that differ only on another axis, compared with its value `base`. Groups without a case of that value are left
// out.
[[nodiscard]] std::vector<CaseGroup> groups_against(std::span<const model::CaseReport> cases, std::string_view axis,
                                                    std::string_view base);

// Turns the phases of a result's cases into cases of their own, so that phases are compared as cases are. Each such
// case has one more parameter, `phase`. Its metrics are the phase's time, its faults and their causes.
//
// Cost     one case per case and phase; points and series are left out.
// Errors   none: a case without phases (skipped, or of an earlier version) makes no case.
inline constexpr std::string_view phase_axis = "phase";

[[nodiscard]] model::RunReport by_phase(const model::RunReport& report);

// True when a scenario of the result has an axis of this name itself; `phase` then means that axis.
[[nodiscard]] bool has_phase_axis(const model::RunReport& report);

// Matrices of processors against memory: the cases that differ only in the NUMA nodes of the two.
//
// Units    the metric's own; a cell is a median over the repetitions.
// Errors   none: what was not measured is absent, with the case's reason.

// Parameters that are numbers of NUMA nodes.
inline constexpr std::string_view cpu_node_param = "cpu_node";
inline constexpr std::string_view mem_node_param = "mem_node";

struct PlaceMatrix {
    struct Cell {
        std::optional<double> value;
        std::optional<double> least;  // the least sample
        bool has_case{};
        std::string reason;  // why the case has none
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

// The index of a name in the order of appearance; a new name is added.
[[nodiscard]] std::size_t index_of(std::vector<std::string>& names, const std::string& name);

// One matrix for each scenario and setting of the other parameters that has cases with both nodes.
[[nodiscard]] std::vector<PlaceMatrix> place_matrices(const std::vector<model::CaseReport>& cases);

}  // namespace memsweep::measure
