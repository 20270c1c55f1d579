// How a probe reports: cases with values and facts, and why one was not measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/probe/probe.hpp"
#include "core/sys/placed_memory.hpp"

namespace memsweep::probe {

// The first of these that has processors, or memory; nullptr where none has.
[[nodiscard]] const sys::NumaNode* first_with_cpus(const std::vector<sys::NumaNode>& nodes);
[[nodiscard]] const sys::NumaNode* first_with_memory(const std::vector<sys::NumaNode>& nodes);

// "4k", "thp", "hugetlb_2m": pages as parameters of cases and as ends of transfers name them.
[[nodiscard]] std::string page_word(model::PageKind pages);

[[nodiscard]] model::CaseReport new_case(std::string scenario, std::vector<model::Param> params);

// A metric of the catalog, one value per sample, with its summary.
void set_values(model::CaseReport& report, std::string_view metric, const std::vector<double>& values);
void set_fact(model::CaseReport& report, std::string name, model::Scalar value);

// The fact `placement`. A case that is ok fails where memory is not where it was bound to.
void set_placement(model::CaseReport& report, const sys::PlacementProof& proof);

void skip(model::CaseReport& report, std::string reason);
void skip_interrupted(model::CaseReport& report);  // before its first sample
void fail(model::CaseReport& report, std::string reason);
void set_error(model::CaseReport& report, const base::Error& error);  // skipped or error, by the error's code

}  // namespace memsweep::probe
