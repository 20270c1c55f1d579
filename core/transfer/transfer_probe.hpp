// Transfers that were written down, all of them at once: bytes that arrive per second, each for itself and together.
//
// Sources  every mover goes on until the time of a sample has passed for all, so that each is measured beside the
//          others from its first byte to its last; copies by the loop that a calibration found fastest.
// Data     every element is checked before the first sample and after the last, against a different value at every
//          position, over poisoned memory; of what is only read, the sum of a pass.
// Memory   both ends of every transfer, touched before anything is timed, bound to the node that is named, and proven.
// Errors   cases: skipped where a node, its processors, memory or a device is missing; failed for wrong data.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device/runtime.hpp"
#include "core/model/transfer.hpp"
#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

// "probe_transfer/bytes=268435456/dst=host@node0/exe=cpu/src=host:pinned@node0"; of several at once also nr=1, and
// "probe_transfers/at_once=2" for all of them together.
[[nodiscard]] std::vector<model::CaseReport> probe_transfers(const ProbeContext& context,
                                                             const std::vector<model::TransferSpec>& specs);

// The same where a device takes part in any of them: by the routes of transfer_set.hpp, asked for by one thread. Facts:
// which route each took, and why. One that this machine cannot carry is skipped, and the others go on without it.
[[nodiscard]] std::vector<model::CaseReport> probe_device_transfers(const ProbeContext& context,
                                                                    device::Runtime& runtime,
                                                                    const std::vector<model::TransferSpec>& specs);

// A node with memory that is named and not there; empty: none.
[[nodiscard]] std::string missing_node(const ProbeContext& context, const model::Place& place);

// What both report: a transfer's case, and that of all together. `rates`: one for each sample.
[[nodiscard]] model::CaseReport transfer_case(const model::TransferSpec& spec, std::uint64_t bytes, std::size_t number,
                                              std::size_t all);
[[nodiscard]] model::CaseReport case_of_all(std::size_t transfers, const std::vector<double>& rates);

}  // namespace memsweep::transfer
