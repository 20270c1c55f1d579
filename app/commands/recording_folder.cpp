#include "app/commands/recording_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "app/commands/snapshots.hpp"
#include "core/base/quantity.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/output_file.hpp"
#include "core/sys/process_stat.hpp"
#include "core/trace/format/stack_recording.hpp"

namespace memsweep::app {
namespace {

namespace fs = std::filesystem;

std::string stacks_beside(const std::string& path)
{
    return fs::path{path}.replace_extension(trace::stacks_ending).string();
}

void take_recording(const std::string& path, LeftRecordings& into)
{
    auto image = image_at(path);
    if (!image) {
        into.not_read.push_back(image.error());
        return;
    }
    into.taken.push_back(path);
    into.taken.push_back(stacks_beside(path));
    if (*image) {
        into.images.push_back(**std::move(image));
    }
}

bool is_alive(const std::string& process)
{
    const auto stat = sys::read_process_stat(fmt::format("/proc/{}/", process));
    return stat && !stat->has_ended();
}

void take_refusal(const fs::path& path, LeftRecordings& into)
{
    std::error_code problem;
    const std::string cause = fs::read_symlink(path, problem).string();
    if (const auto number = base::parse_number(cause); number && *number <= INT_MAX) {
        into.taken.push_back(path.string());
        into.refused_errno = static_cast<int>(*number);
        ++into.refused;
    }
}

}  // namespace

std::uint32_t pid_namespace_of(const std::string& process)
{
    struct stat found {};
    return ::stat(fmt::format("/proc/{}/ns/pid", process).c_str(), &found) == 0
               ? static_cast<std::uint32_t>(found.st_ino)
               : 0;
}

std::uint32_t own_pid_namespace()
{
    return pid_namespace_of("self");
}

base::Expected<std::vector<fs::path>> entries_of(const std::string& folder)
{
    std::vector<fs::path> paths;
    std::error_code problem;
    fs::directory_iterator at{folder, problem};
    for (; !problem && at != fs::directory_iterator{}; at.increment(problem)) {
        paths.push_back(at->path());
    }
    if (problem) {
        return base::fail(sys::io_error("cannot read", problem.value(), folder));
    }
    return paths;
}

std::string unfinished_trace_in(const std::string& folder)
{
    return folder + "/unfinished.trace";
}

std::string clock_in(const std::string& folder)
{
    return folder + "/" + trace::clock_name;
}

base::Expected<std::optional<trace::RecordedImage>> image_at(const std::string& path)
{
    auto image = trace::find_image([path] { return trace::open_part_of_recording(path); }, path);
    const std::string stacks = stacks_beside(path);
    std::error_code problem;
    if (image && *image && fs::exists(stacks, problem)) {
        (*image)->open_stacks = [stacks] { return trace::open_part_of_recording(stacks); };
    }
    return image;
}

base::Expected<LeftRecordings> recordings_in(const std::string& folder, const trace::TreeLooks& looks)
{
    const std::vector<fs::path> paths = MEMSWEEP_TRY(entries_of(folder));
    LeftRecordings found;
    for (const fs::path& path : paths) {
        if (path.extension() == trace::recording_ending) {
            take_recording(path.string(), found);
        } else if (path.extension() == trace::refusal_ending) {
            take_refusal(path, found);
        } else if (path.extension() == snapshot_ending || path.extension() == mark_ending) {
            found.snapshots.push_back(path.string());
        }
    }
    std::ranges::sort(found.snapshots);
    found.taken.insert(found.taken.end(), found.snapshots.begin(), found.snapshots.end());
    std::vector<trace::ImageStart> begun;
    for (const trace::RecordedImage& image : found.images) {
        begun.push_back({image.facts.process, image.facts.pid_namespace, image.facts.start_nanoseconds});
    }
    const std::vector<trace::StartEntry> starts = trace::read_starts(folder, found.not_noted);
    if (found.refused == 0 && found.not_read.empty()) {
        found.unrecorded = trace::unrecorded_programs(starts, begun);
        looks.add_to(found.unrecorded, begun);
    } else {  // whose the images would be that are missing is not known
        found.unrecorded = trace::unrecorded_processes(starts);
    }
    for (const trace::RecordedImage& image : found.images) {
        if (image.facts.foreign_malloc != 0) {
            found.unrecorded.push_back(
                {image.facts.process, trace::PreloadObstacle::own_malloc, trace::program_of(image), ""});
        }
    }
    found.taken.push_back(trace::starts_in(folder));
    found.taken.push_back(clock_in(folder));
    if (std::error_code problem; fs::exists(unfinished_trace_in(folder), problem)) {
        found.unfinished = unfinished_trace_in(folder);
    }
    return found;
}

base::Expected<std::string> make_recording_folder(const std::string& out)
{
    MEMSWEEP_TRY(sys::find_output_target(out));
    std::error_code problem;
    const std::string folder = fs::absolute(out + ".recording", problem).lexically_normal().string();
    if (::mkdir(folder.c_str(), 0700) == 0) {
        return folder;
    }
    if (errno == EEXIST) {
        return base::fail(base::ErrorCode::io,
                          fmt::format("is left from a recording that was cut off: make a trace of it with `memsweep "
                                      "record --recover {} -o FILE`, or remove it",
                                      folder),
                          folder);
    }
    return base::fail(sys::io_error("cannot make the folder", errno, folder));
}

base::Expected<void> check_room(const std::string& folder)
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < trace::least_reach_bytes) {
        return base::fail(
            sys::io_error(fmt::format("a recording needs files of {}, and a limit (ulimit -f) forbids them",
                                      base::exact_size(trace::least_reach_bytes)),
                          EFBIG, folder));
    }
    auto file = sys::TempFile::create_in(folder);
    const int problem = file ? file->reserve(trace::least_room_bytes) : errno;
    if (problem != 0) {
        return base::fail(sys::io_error("no room to record in", problem, folder));
    }
    return {};
}

void remove_recording(const std::string& folder, const std::vector<std::string>& taken)
{
    std::error_code problem;
    const fs::path whole = fs::path{folder}.has_filename() ? fs::path{folder} : fs::path{folder}.parent_path();  // "a/"
    const fs::path removed = fs::path{whole}.concat(".removed");
    fs::rename(whole, removed, problem);
    const fs::path at = problem ? whole : removed;
    for (const std::string& path : taken) {
        fs::remove(at / fs::path{path}.filename(), problem);
    }
    sys::remove_left_behind(at.string(), sys::partial_files);
    fs::remove(at, problem);
    if (problem && at == removed) {
        fs::rename(removed, whole, problem);
    }
}

bool is_running(const trace::ImageFacts& image)
{
    if (image.pid_namespace == 0 || image.pid_namespace == own_pid_namespace()) {
        return is_alive(std::to_string(image.process));
    }
    std::error_code problem;
    for (fs::directory_iterator at{"/proc", problem}; !problem && at != fs::directory_iterator{};
         at.increment(problem)) {
        const std::string process = at->path().filename().string();
        if (base::parse_number(process) && pid_namespace_of(process) == image.pid_namespace &&
            sys::innermost_number(fmt::format("/proc/{}/", process)) == image.process && is_alive(process)) {
            return true;
        }
    }
    return false;
}

}  // namespace memsweep::app
