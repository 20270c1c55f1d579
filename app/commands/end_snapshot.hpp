// What is looked at of a recorded program while it stands at its end.
//
// Errors   those of reading; not_supported: nothing was recorded of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/measure/memory_ledger.hpp"
#include "core/measure/memory_verdict.hpp"
#include "core/sys/mappings.hpp"
#include "core/trace/recording.hpp"

namespace memsweep::app {

// What the recorder wrote of the process: of the last program that it has become. `images` gets all that are there.
[[nodiscard]] base::Expected<trace::RecordedImage> recorded_image(const std::string& folder, pid_t process,
                                                                  std::vector<trace::RecordedImage>& images);

// Parts of the size of a page that are all zero, of the huge pages that a program has for itself.
//
// Cost     some 0.2 ms a MiB of huge pages.
[[nodiscard]] std::vector<measure::AddressRange> zero_parts_of(const sys::AddressSpace& space,
                                                               const sys::ForeignMemory& memory);

// The processes that a program has started, without the copy in which the recorder tried a request.
struct OtherProcesses {
    std::uint64_t page_faults{};  // by those that it has waited for, and by theirs
    std::uint64_t peak_bytes{};   // the resident set of the largest of them; 0: not known
    bool are_running{};
};
[[nodiscard]] OtherProcesses other_processes(const std::string& folder, pid_t process);

// What the recorder tried in a copy of the process, or why it did not.
[[nodiscard]] measure::TriedRequest tried_request(const std::string& folder, pid_t process);

}  // namespace memsweep::app
