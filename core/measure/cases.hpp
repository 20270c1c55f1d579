// Reads the cases of results: their values, their parameters, and pairs and groups of cases that are compared. Also
// turns phases into cases, and puts cases that differ in their NUMA nodes into matrices.
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

// Returns the values of a metric, one per repetition; a value is nullopt if it was not measured. If `point` is not
// empty: the metric's values at the points of this name, in the order in which they were sampled. Returns an empty list
// if the case has no such metric or point.
[[nodiscard]] std::vector<std::optional<double>> case_values(const model::CaseReport& report, std::string_view point,
                                                             std::string_view metric);

// The median of case_values(); nullopt if there are no values.
[[nodiscard]] std::optional<double> case_median(const model::CaseReport& report, std::string_view point,
                                                std::string_view metric);

// The shift (statistics.hpp) of a metric's values from `base` to `other`; nullopt if one of the two cases has no value.
[[nodiscard]] std::optional<Shift> case_shift(const model::CaseReport& base, const model::CaseReport& other,
                                              std::string_view metric);

// The names of a case's points, in the order in which they were first sampled.
[[nodiscard]] std::vector<std::string_view> point_names(const model::CaseReport& report);

// The value of the parameter `axis`, as text; nullopt if the case has no such parameter.
[[nodiscard]] std::optional<std::string> value_on(const model::CaseReport& report, std::string_view axis);

// The value of the parameter `mode`; nullopt if the case has no such parameter.
[[nodiscard]] std::optional<std::string> mode_of(const model::CaseReport& report);

// The parameter as "name=value", for example "mode=refcount".
[[nodiscard]] std::string param_text(const model::Param& param);

// "name=value" of every parameter except those of `axes`, in alphabetical order.
[[nodiscard]] std::vector<std::string> params_without(const model::CaseReport& report,
                                                      std::span<const std::string_view> axes);

[[nodiscard]] bool has_value(const model::CaseReport& report, const model::RatioOf& wanted);

// Two cases that are compared: the same case in two results, or two cases of one result that differ in the value of an
// axis.
struct CasePair {
    const model::CaseReport* base{};       // nullptr: only the candidate has the case
    const model::CaseReport* candidate{};  // nullptr: only the base has the case
};

// Pairs cases by scenario and case id: the base's cases in their order, then the cases that only the candidate has.
[[nodiscard]] std::vector<CasePair> pair_by_id(std::span<const model::CaseReport> base,
                                               std::span<const model::CaseReport> candidate);

// Pairs the cases of one axis value with those of another (`mode=finalizer` with `mode=refcount`). The cases of a pair
// have equal values of all other parameters. If `base` and `candidate` name two axes, both axes may differ.
//
// Cost     one look-up for each case.
[[nodiscard]] std::vector<CasePair> pair_by_value(std::span<const model::CaseReport> cases, const model::RatioOf& base,
                                                  const model::RatioOf& candidate);

inline constexpr std::string_view mode_axis = "mode";

// Cases that differ only on one axis.
struct CaseGroup {
    std::vector<std::string> rest;  // what the cases share: the scenario, then the other parameters
    std::vector<const model::CaseReport*> cases;
    const model::CaseReport* base{};  // the case with which the other cases of the group are compared
};

// Groups of cases that differ only in the parameter `mode`, in the order of their first cases. Cases without `mode` or
// with a status other than ok are left out. The base of a group is refcount if there is one, else the first case.
[[nodiscard]] std::vector<CaseGroup> mode_groups(std::span<const model::CaseReport> cases);

// Groups of cases that differ only on `axis`. The base of a group is the case with the value `base`. Groups without
// such a case are left out.
[[nodiscard]] std::vector<CaseGroup> groups_against(std::span<const model::CaseReport> cases, std::string_view axis,
                                                    std::string_view base);

// The parameter that by_phase() adds.
inline constexpr std::string_view phase_axis = "phase";

// Turns each phase of a result's cases into a case, so that phases can be compared like cases. Such a case has one more
// parameter, `phase`. Its metrics are the phase's time, its page faults, and the parts of the time that went to page
// faults, to the allocator and to waits for collections.
//
// Cost     makes one case for each phase of each case. Points and series are left out.
// Errors   none: a case without phases (skipped, or of an earlier version) makes no case.
[[nodiscard]] model::RunReport by_phase(const model::RunReport& report);

// True if a scenario of the result has an axis of its own with the name `phase`. In this case `phase` means that axis.
[[nodiscard]] bool has_phase_axis(const model::RunReport& report);

// Matrices of processors against memory. The cases of a matrix differ only in two NUMA nodes: that of the processors
// and that of the memory.
//
// Units    the metric's own; a cell is a median over the repetitions.
// Errors   none: a cell that was not measured has the case's reason instead of a value.

// Parameters that are numbers of NUMA nodes.
inline constexpr std::string_view cpu_node_param = "cpu_node";
inline constexpr std::string_view mem_node_param = "mem_node";

struct PlaceMatrix {
    struct Cell {
        std::optional<double> value;
        std::optional<double> least;  // the smallest sample
        bool has_case{};
        std::string reason;  // why the case has no value
    };
    // For example "numa_read": the scenario's name without "probe_", and the values of the other parameters.
    std::string name;
    model::Unit unit{};
    model::Better better{};
    std::string row_role;
    std::string col_role;
    std::vector<std::string> rows;  // for example "node0", in the order of the cases
    std::vector<std::string> cols;
    std::vector<std::vector<Cell>> cells;
};

// Returns the index of a name in `names`. If the name is not in `names`, adds it at the end.
[[nodiscard]] std::size_t index_of(std::vector<std::string>& names, const std::string& name);

// Makes one matrix for each scenario and combination of the other parameters. A case that lacks one of the two nodes is
// left out.
[[nodiscard]] std::vector<PlaceMatrix> place_matrices(const std::vector<model::CaseReport>& cases);

}  // namespace memsweep::measure
