// Copies the content of a pipe to disk, so that it can be read more than once.
//
// Cost     every byte is written one time, to a file without a name in the folder for temporary files. The kernel
//          removes the file when its last descriptor is closed.
// Errors   io: the pipe cannot be read, or the copy cannot be written; timeout: neither a byte nor the end came within
//          SpoolLimits::silence; invalid_input: the pipe brings more than SpoolLimits::bytes. The error's `where` is
//          the argument `name`.
// Threads  waits in the calling thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

struct SpoolLimits {
    std::optional<std::chrono::nanoseconds> silence;  // longest wait for the next byte or the end; absent: for ever
    std::uint64_t bytes{UINT64_MAX};
};

// Copies until the end of the pipe. Returns the descriptor of the copy; its file offset is at the end of the copy.
// Calls `goes_on` with each piece after the piece was copied. If `goes_on` returns false, copies no further piece.
[[nodiscard]] base::Expected<UniqueFd> spooled(int pipe, const std::string& name, const SpoolLimits& limits,
                                               const std::function<bool(std::string_view piece)>& goes_on);

}  // namespace memsweep::sys
