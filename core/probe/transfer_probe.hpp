// What the probes of transfers have in common, by processors and by devices: their cases, and why one is not measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/transfer.hpp"
#include "core/probe/probe_case.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::probe {

inline constexpr std::uint64_t usual_transfer_bytes = 256U << 20;

// Why a transfer cannot be measured here: it names another rank, or a node that has no memory. Empty: it can be tried.
[[nodiscard]] std::string unmet(const ProbeContext& context, const model::TransferSpec& spec);

// Why so many transfers of so many bytes are too large for the budget. Empty: they are not.
[[nodiscard]] std::string over_budget(const ProbeContext& context, std::uint64_t bytes, std::size_t transfers);

[[nodiscard]] model::CaseReport transfer_case(const model::TransferSpec& spec, std::uint64_t bytes, std::size_t number,
                                              std::size_t all);

// Of all transfers together. `rates`: one for each sample.
[[nodiscard]] model::CaseReport case_of_all(std::size_t transfers, const std::vector<double>& rates);

// The facts of where both ends lie and on what pages; a case that is ok fails where one is not where it was bound to.
void set_ends(model::CaseReport& report, const transfer::EndMemory& src, const transfer::EndMemory& dst);

}  // namespace memsweep::probe
