// The reports of a probe: cases with values and facts, or the reason why one was not measured.
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

// The first of these nodes that has processors, or memory; nullptr if none has.
[[nodiscard]] const sys::NumaNode* first_with_cpus(const std::vector<sys::NumaNode>& nodes);
[[nodiscard]] const sys::NumaNode* first_with_memory(const std::vector<sys::NumaNode>& nodes);

// "4k", "thp", "hugetlb_2m": pages as parameters of cases and as ends of transfers name them.
[[nodiscard]] std::string page_word(model::PageKind pages);

[[nodiscard]] model::CaseReport new_case(std::string scenario, std::vector<model::Param> params);

// A metric of the catalog, one value per sample, with its summary.
void set_values(model::CaseReport& report, std::string_view metric, const std::vector<double>& values);
// The same. A case without values was interrupted before its first sample, and is skipped. Returns whether there are
// values.
bool set_samples(model::CaseReport& report, std::string_view metric, const std::vector<double>& values);
void set_fact(model::CaseReport& report, std::string name, model::Scalar value);
template <std::unsigned_integral Count>
void set_fact(model::CaseReport& report, std::string name, Count count)
{
    set_fact(report, std::move(name), model::Scalar{static_cast<std::int64_t>(count)});
}

// The fact `placement`. A case that is ok fails if memory is not on the node to which it was bound.
void set_placement(model::CaseReport& report, const sys::PlacementProof& proof);

void skip(model::CaseReport& report, std::string reason);
void skip_interrupted(model::CaseReport& report);  // before its first sample
void fail(model::CaseReport& report, std::string reason);
void set_error(model::CaseReport& report, const base::Error& error);  // skipped or error, by the error's code

// Why nothing can be measured after a failed case. If it broke the driver's context, every later case would report its
// failure as their own. Empty: the context is whole.
[[nodiscard]] std::string why_lost(const device::Runtime& runtime, std::string_view case_id);

// Parts that the probes of transfers by processors and by devices share.

inline constexpr std::uint64_t usual_transfer_bytes = 256U << 20;

// Why a transfer cannot be measured here: it names another rank, or a node that has no memory. Empty: it can be tried.
[[nodiscard]] std::string unmet(const ProbeContext& context, const model::TransferSpec& spec);

// Why so many transfers of so many bytes are too large for the budget. Empty: they are not.
[[nodiscard]] std::string over_budget(const ProbeContext& context, std::uint64_t bytes, std::size_t transfers);

[[nodiscard]] model::CaseReport transfer_case(const model::TransferSpec& spec, std::uint64_t bytes, std::size_t number,
                                              std::size_t all);

// The case for all transfers together. `rates`: one for each sample.
[[nodiscard]] model::CaseReport case_of_all(std::size_t transfers, const std::vector<double>& rates);

// The facts of both ends: their nodes and pages. A case that is ok fails if an end is not on the node to which it was
// bound.
void set_ends(model::CaseReport& report, const transfer::EndMemory& src, const transfer::EndMemory& dst);

}  // namespace memsweep::probe
