// Chooses the path of a transfer, and says why.
//
// Sources  The automatic choice is the first that applies:
//            both ends in one device                          a local copy
//            two devices that reach each other                a peer-to-peer copy
//            host memory that the driver reads directly       one copy of it
//            less than 4 MiB of ordinary memory, and the
//            options ask nothing of rings                     the driver's own copy
//            else                                             staged through pinned slots
//          A forced strategy is taken if both ends allow it. Peer to peer between devices that do not reach each other
//          is staged, and says so. From which size staging pays: results/reference/gpu_h200/staging_by_size.csv.
//
// Errors   not_supported: the runtime has no such device; invalid_input: the ends do not allow the forced strategy.
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

// Switches on the peer access that the route needs, and leaves it on.
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
