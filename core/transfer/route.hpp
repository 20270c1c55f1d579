// Chooses the path of a transfer, and says why it was chosen.
//
// Sources  The automatic choice is the first row of this table whose left side is true:
//            a device, and no source                          the device fills its memory
//            both ends on the host                            a copy by the processor
//            both ends in one device                          a local copy
//            two devices that reach each other                a peer-to-peer copy
//            host memory that the driver reads directly       one copy by the driver, without buffers
//            less than 4 MiB of ordinary memory, and no
//            option that only staging has                     a copy through the driver's own buffers
//            else                                             staged: piece by piece through pinned buffers
//          A forced strategy is taken if both ends allow it. If peer to peer is forced on devices that do not reach
//          each other, the transfer is staged, and `why` says so.
//          results/reference/gpu_h200/staging_by_size.csv shows from which size on staging is faster.
//
// Errors   not_supported: the runtime has no such device, or a device would have to copy without a destination.
//          invalid_input: the ends do not allow the forced strategy.
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

// Chooses the route. If it needs peer access between devices, switches this access on, and leaves it on.
[[nodiscard]] base::Expected<Route> choose_route(device::Runtime& runtime, const model::TransferJob& job,
                                                 const model::TransferOptions& options);

// Copies within a device and copies between two devices both have the direction d2d.
[[nodiscard]] Direction direction_of(const model::TransferSpec& spec);

// The direction as text: "h2h", "h2d", "d2h", "d2d".
[[nodiscard]] std::string_view direction(const model::TransferSpec& spec);

// Returns the device whose runtime makes the copy: the device at the destination, else the one at the source. Absent:
// neither end is a device.
[[nodiscard]] std::optional<std::uint32_t> driver_of(const model::TransferSpec& spec);

// Says which of the devices that the transfer names is missing, and why; empty: none is missing.
[[nodiscard]] std::string missing_device(const device::Runtime& runtime, const model::TransferSpec& spec);

}  // namespace memsweep::transfer
