// Which path a transfer takes, and why.
//
// Sources  Automatic: within one device a local copy; between two that reach each other a peer-to-peer copy; with host
//          memory that the driver reads directly one copy of it; less than 4 MiB of ordinary memory by the driver's own
//          copy, unless something is asked of rings; else staged through pinned slots. A strategy that is forced is
//          taken where both ends allow it. Peer to peer between devices that do not reach each other is staged, and
//          says so. Where staging begins to pay: results/reference/gpu_h200/staging_by_size.csv.
//
// Errors   not_supported: the runtime has no such device; invalid_input: the ends do not allow the strategy forced.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/model/transfer.hpp"
#include "core/transfer/transfer_statistics.hpp"

namespace memsweep::transfer {

struct Route {
    model::Strategy strategy{};  // never automatic
    std::string why;
};

// Peer access that it needs is switched on, and stays so.
[[nodiscard]] base::Expected<Route> choose_route(device::Runtime& runtime, const model::TransferJob& job,
                                                 const model::TransferOptions& options);

// Copies within a device and between two have the same direction.
[[nodiscard]] Direction direction_of(const model::TransferSpec& spec);

// "h2h", "h2d", "d2h", "d2d"
[[nodiscard]] std::string_view direction(const model::TransferSpec& spec);

// The device whose runtime takes part: the destination, else the source. Absent: both ends are on the host.
[[nodiscard]] std::optional<std::uint32_t> driver_of(const model::TransferSpec& spec);

// Why a device that the transfer names is not there; empty: all of them are.
[[nodiscard]] std::string missing_device(const device::Runtime& runtime, const model::TransferSpec& spec);

}  // namespace memsweep::transfer
