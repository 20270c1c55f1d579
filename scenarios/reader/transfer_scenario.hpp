// Transfers in words as a scenario file that carries them out, to be kept, varied and gated.
//
// Units    bytes of each transfer.
// Errors   none: what was parsed as a transfer can be written as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/transfer.hpp"

namespace memsweep::scenarios {

// With a line end; `repetitions` is at least 1.
[[nodiscard]] std::string transfer_scenario(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                                            std::uint32_t repetitions);

}  // namespace memsweep::scenarios
