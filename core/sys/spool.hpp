// Copies the content of a pipe to disk, so that it can be read more than once.
//
// Cost     every byte is written once, to a file without a name in the folder for temporary files. The file goes with
//          its last descriptor.
// Errors   io: the pipe cannot be read or the copy not written; timeout: no byte and no end for too long;
//          invalid_input: more bytes than allowed. `where` is the name.
// Threads  waits in the calling thread; a signal that ends the process ends the wait.
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
    std::optional<std::chrono::nanoseconds> silence;  // the longest wait for a byte or the end; absent: for ever
    std::uint64_t bytes{UINT64_MAX};
};

// `goes_on` gets each piece, and ends the copy by returning false.
[[nodiscard]] base::Expected<UniqueFd> spooled(int pipe, const std::string& name, const SpoolLimits& limits,
                                               const std::function<bool(std::string_view piece)>& goes_on);

}  // namespace memsweep::sys
