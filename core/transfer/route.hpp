// Which way a transfer takes, and why.
//
// Sources  automatic: within one device a local copy; between two that reach each other peer to peer; with host memory
//          that the driver reads directly one copy of it; else staged through pinned slots. What is forced is taken
//          where both ends allow it; peer to peer between devices that do not reach each other is staged, and says so.
// Errors   not_supported: the runtime has no such device; invalid_input: the ends do not allow the strategy forced.
#pragma once

#include <string>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/model/transfer_step.hpp"

namespace memsweep::transfer {

struct Route {
    model::Strategy strategy{};  // never automatic
    std::string why;
};

// Peer access that it needs is switched on, and stays so.
[[nodiscard]] base::Expected<Route> choose_route(device::Runtime& runtime, const model::TransferSpec& spec,
                                                 model::Strategy wanted);

// "h2h", "h2d", "d2h", "d2d": copies within a device and between two are the same by what they report.
[[nodiscard]] std::string_view direction(const model::TransferSpec& spec);

// A device number that this runtime has not; empty: it has all that are named.
[[nodiscard]] std::string missing_device(const device::Runtime& runtime, const model::TransferSpec& spec);

}  // namespace memsweep::transfer
