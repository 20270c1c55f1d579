// Makes the case reports of probes: with values and facts, or with the reason why a case was not measured.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/transfer.hpp"
#include "core/probe/probe.hpp"
#include "core/sys/placed_memory.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::probe {

// The first node with processors, and the first node with memory; nullptr if there is none.
[[nodiscard]] const sys::NumaNode* first_with_cpus(const std::vector<sys::NumaNode>& nodes);
[[nodiscard]] const sys::NumaNode* first_with_memory(const std::vector<sys::NumaNode>& nodes);

// The name of a page kind in case parameters and in the ends of transfers: "4k", "thp", "hugetlb_2m".
[[nodiscard]] std::string page_word(model::PageKind pages);

[[nodiscard]] model::CaseReport new_case(std::string scenario, std::vector<model::Param> params);

// Adds a metric of the metric catalog with one value per sample, and its summary.
void set_values(model::CaseReport& report, std::string_view metric, const std::vector<double>& values);
// Calls set_values() and returns true. If `values` is empty, calls skip_interrupted() instead and returns false.
bool set_samples(model::CaseReport& report, std::string_view metric, const std::vector<double>& values);
void set_fact(model::CaseReport& report, std::string name, model::Scalar value);
template <std::unsigned_integral Count>
void set_fact(model::CaseReport& report, std::string name, Count count)
{
    set_fact(report, std::move(name), model::Scalar{static_cast<std::int64_t>(count)});
}

// Adds the fact `placement`. If the memory is not on the node to which it was bound, a case that was ok becomes failed.
void set_placement(model::CaseReport& report, const sys::PlacementProof& proof);

void skip(model::CaseReport& report, std::string reason);
void skip_interrupted(model::CaseReport& report);  // with the reason "interrupted before its first sample"
void fail(model::CaseReport& report, std::string reason);
// Sets the status to `skipped` if the error is not_supported or budget, else to `error`.
void set_error(model::CaseReport& report, const base::Error& error);

// Returns a message if case `case_id` has broken the driver's context of this process, so that no later device case can
// be measured. Returns an empty text if the context is intact.
[[nodiscard]] std::string why_lost(const device::Runtime& runtime, std::string_view case_id);

// The rest of this file is shared by the probe of host transfers and the probe of device transfers.

inline constexpr std::uint64_t usual_transfer_bytes = 256U << 20;

// Returns why a transfer cannot be measured here: it names an MPI rank, or a node without memory. Empty: it can be
// tried.
[[nodiscard]] std::string unmet(const ProbeContext& context, const model::TransferSpec& spec);

// Returns a message if the memory budget is too small for `transfers` transfers with `bytes` bytes at each end. Empty:
// it is large enough.
[[nodiscard]] std::string over_budget(const ProbeContext& context, std::uint64_t bytes, std::size_t transfers);

[[nodiscard]] model::CaseReport transfer_case(const model::TransferSpec& spec, std::uint64_t bytes, std::size_t number,
                                              std::size_t all);

// The case for all transfers together. `rates` has one value per sample. If `rates` is empty, the case is skipped.
[[nodiscard]] model::CaseReport case_of_all(std::size_t transfers, const std::vector<double>& rates);

// Adds facts about both ends: their nodes and pages. If an end is not on the node to which it was bound, a case that
// was ok becomes failed.
void set_ends(model::CaseReport& report, const transfer::EndMemory& src, const transfer::EndMemory& dst);

}  // namespace memsweep::probe
