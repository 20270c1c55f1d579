// The folder OUT.recording. Recorders write their files to it while the processes run, and memsweep starts the trace
// there.
//
// Errors   io, naming the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/unrecorded.hpp"

namespace memsweep::app {

// Makes a new folder. It is an error if the folder exists already, left by an earlier recording. The folder stays until
// the trace is complete, so a full disk loses no data.
[[nodiscard]] base::Expected<std::string> make_recording_folder(const std::string& out);

// Checks that the disk has enough free space to record the first process. Otherwise a program could run for hours
// without a recording.
[[nodiscard]] base::Expected<void> check_room(const std::string& folder);

[[nodiscard]] base::Expected<std::vector<std::filesystem::path>> entries_of(const std::string& folder);

// Opens a recorder's file. Returns nullopt if the file's headers are not written yet.
[[nodiscard]] base::Expected<std::optional<trace::RecordedImage>> image_at(const std::string& path);

// What the folder of a recording contains when the recording has ended.
struct LeftRecordings {
    std::vector<trace::RecordedImage> images;
    std::vector<std::string> taken;     // files and links to delete when the trace is complete
    std::vector<base::Error> not_read;  // one error for each recorder's file that could not be read; the file stays
    std::uint64_t refused{};            // processes for which no file could be made
    int refused_errno{};                // errno of the last failure to make such a file
    std::vector<trace::UnrecordedProgram> unrecorded;  // programs that ran without a recorder
    // How many more programs were started than the file "starts" has room for. Nothing else is known about them.
    std::uint64_t not_noted{};
    std::vector<std::string> snapshots;     // snapshot files and mark files (snapshots.hpp), sorted by name
    std::optional<std::string> unfinished;  // the path of the trace that was begun while the processes ran
};

// Lists what the folder contains. `looks`: what was seen of the process tree while the program ran.
[[nodiscard]] base::Expected<LeftRecordings> recordings_in(const std::string& folder, const trace::TreeLooks& looks);
[[nodiscard]] std::string unfinished_trace_in(const std::string& folder);
[[nodiscard]] std::string clock_in(const std::string& folder);

// Removes the files in the order of `taken`, and then the folder if it is empty. While the files are removed, the
// folder has the name of `folder` with ".removed" appended. So if we are killed half-way, a later recovery does not
// take the remaining files for the whole recording.
void remove_recording(const std::string& folder, const std::vector<std::string>& taken = {});

// Return the inode number of the pid namespace of a process, or of our own (pid_namespaces(7)); 0: not known.
[[nodiscard]] std::uint32_t pid_namespace_of(const std::string& process);
[[nodiscard]] std::uint32_t own_pid_namespace();

// Says whether the recorded process still runs. A zombie counts as ended.
//
// Sources  pid_namespaces(7): NSpid in /proc/PID/status has a process's pid in each of its namespaces (proc(5)).
// Cost     for a process of another namespace, a check of all running processes.
[[nodiscard]] bool is_running(const trace::ImageFacts& image);

}  // namespace memsweep::app
