// The folder that recorders write to while their processes run, and the trace that becomes of it.
//
// Errors   io: the folder or the trace cannot be made (`where` names it); invalid_input: the folder holds no recording;
//          not_supported: the library is not where it was installed.
// Ownership  the folder stays until its trace is written whole: what was recorded is never lost to a full disk.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/recording.hpp"

namespace memsweep::app {

struct RecordingChoice {
    std::uint64_t min_size_bytes{};
    std::uint64_t sample{1};
    bool children{true};
};

// OUT.recording, new; refused where an earlier one was left behind.
[[nodiscard]] base::Expected<std::string> make_recording_folder(const std::string& out);

// What a command needs in its environment to be recorded there.
[[nodiscard]] base::Expected<std::vector<std::pair<std::string, std::string>>>
recording_environment(const std::string& folder, const RecordingChoice& choice);

// Removes the folder's recordings, and the folder when nothing else is in it, once `out` is written.
[[nodiscard]] base::Expected<trace::RecordingSummary>
assemble_recording(const std::string& folder, const std::string& out, const trace::Facts& facts);
void remove_recording(const std::string& folder);

}  // namespace memsweep::app
