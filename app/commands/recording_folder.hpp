// The folder OUT.recording. Recorders write to it while their processes run, and memsweep begins the trace in it.
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

// Makes a new folder; one that an earlier recording left behind is refused. It stays until its trace is written whole,
// so that a full disk loses nothing.
[[nodiscard]] base::Expected<std::string> make_recording_folder(const std::string& out);

// Shows that the first process can be recorded there, before hours are spent on a program without a recording.
[[nodiscard]] base::Expected<void> check_room(const std::string& folder);

[[nodiscard]] base::Expected<std::vector<std::filesystem::path>> entries_of(const std::string& folder);

// Absent while its headers are not written.
[[nodiscard]] base::Expected<std::optional<trace::RecordedImage>> image_at(const std::string& path);

// The contents of a folder that a recording left.
struct LeftRecordings {
    std::vector<trace::RecordedImage> images;
    std::vector<std::string> taken;                    // files and links that are of no use once there is a trace
    std::vector<base::Error> not_read;                 // why a file of the folder is not among the images: it stays
    std::uint64_t refused{};                           // processes for which no file could be made
    int refused_errno{};                               // why, of the last of them
    std::vector<trace::UnrecordedProgram> unrecorded;  // programs that ran without the recorder
    std::uint64_t not_noted{};                         // started programs of which nothing else is known
    std::vector<std::string> snapshots;                // files (snapshots.hpp), and that of the mark, in their order
    std::optional<std::string> unfinished;             // the trace that was begun while they ran
};

// `looks`: what was seen of the process tree while it ran.
[[nodiscard]] base::Expected<LeftRecordings> recordings_in(const std::string& folder, const trace::TreeLooks& looks);
[[nodiscard]] std::string unfinished_trace_in(const std::string& folder);
[[nodiscard]] std::string clock_in(const std::string& folder);

// Removes the files in the order of `taken`, and then the folder, unless something else is in it. Meanwhile the
// folder is called FOLDER.removed. So if the process is killed half-way, the next recovery does not take the rest for
// the whole recording.
void remove_recording(const std::string& folder, const std::vector<std::string>& taken = {});

// The inode of a process's pid namespace (pid_namespaces(7)), and of our own; 0: not known.
[[nodiscard]] std::uint32_t pid_namespace_of(const std::string& process);
[[nodiscard]] std::uint32_t own_pid_namespace();

// Whether the process of the image still runs. A zombie has ended.
//
// Sources  pid_namespaces(7): numbers of other namespaces are in NSpid of /proc/PID/status (proc(5)).
// Cost     for a process of another namespace it looks at all running processes.
[[nodiscard]] bool is_running(const trace::ImageFacts& image);

}  // namespace memsweep::app
