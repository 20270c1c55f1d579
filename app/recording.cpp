#include "app/recording.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "app/trace_output.hpp"
#include "core/sys/output_target.hpp"
#include "core/sys/proc_text.hpp"

namespace memsweep::app {
namespace {

namespace fs = std::filesystem;

base::Expected<std::string> recorder_library()
{
    std::error_code problem;
    const fs::path folder = fs::read_symlink("/proc/self/exe", problem).parent_path();
    for (const char* const place : {"libmemsweep_record.so", "../lib/memsweep/libmemsweep_record.so"}) {
        const fs::path path = (folder / place).lexically_normal();
        if (!fs::exists(path, problem)) {
            continue;
        }
        if (path.string().find_first_of(": ") != std::string::npos) {
            return base::fail(base::ErrorCode::not_supported,
                              "the dynamic linker preloads nothing whose path has a blank or a colon: install memsweep "
                              "elsewhere",
                              path.string());
        }
        return path.string();
    }
    return base::fail(base::ErrorCode::not_supported,
                      "libmemsweep_record.so is missing: neither beside this program nor in ../lib/memsweep",
                      folder.string());
}

std::vector<std::string> recordings_in(const std::string& folder)
{
    std::vector<std::string> paths;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator{folder, problem}) {
        if (entry.path().extension() == ".mst") {
            paths.push_back(entry.path().string());
        }
    }
    return paths;
}

// A zombie has ended.
bool is_running(std::uint32_t process)
{
    const std::string text = sys::read_word(fmt::format("/proc/{}/stat", process));
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] != 'Z' &&
           text[name_end + 2] != 'X';
}

// A process that could not even write its headers has nothing to say.
base::Expected<std::vector<trace::RecordedImage>> images_in(const std::string& folder)
{
    std::vector<trace::RecordedImage> images;
    for (const std::string& path : recordings_in(folder)) {
        auto read = trace::open_for_reading(path);
        if (!read) {
            return base::fail(read.error());
        }
        if (auto image = trace::open_image(*std::move(read), path)) {
            images.push_back(*std::move(image));
        }
    }
    if (images.empty()) {
        return base::fail(base::ErrorCode::invalid_input, "nothing was recorded", folder);
    }
    return images;
}

}  // namespace

base::Expected<std::string> make_recording_folder(const std::string& out)
{
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

base::Expected<std::vector<std::pair<std::string, std::string>>> recording_environment(const std::string& folder,
                                                                                       const RecordingChoice& choice)
{
    const auto library = recorder_library();
    if (!library) {
        return base::fail(library.error());
    }
    const char* const others = std::getenv("LD_PRELOAD");
    const std::string preload =
        others == nullptr || *others == '\0' ? *library : fmt::format("{}:{}", *library, others);
    std::string options = fmt::format("min-size={},sample={}", choice.min_size_bytes, choice.sample);
    if (!choice.children) {
        options += fmt::format(",only-child-of={}", ::getpid());
    }
    return std::vector<std::pair<std::string, std::string>>{{"LD_PRELOAD", preload},
                                                            {trace::recording_folder_variable, folder},
                                                            {trace::recording_options_variable, options}};
}

base::Expected<trace::RecordingSummary> assemble_recording(const std::string& folder, const std::string& out,
                                                           const trace::Facts& facts)
{
    const trace::ClockReading now = trace::read_clocks();
    auto images = images_in(folder);
    if (!images) {
        return base::fail(images.error());
    }
    auto output = TraceOutput::open(out);
    if (!output) {
        return base::fail(output.error());
    }
    auto summary = trace::assemble(*std::move(images), now, is_running, output->taker(), facts);
    if (!summary) {
        return base::fail(summary.error());
    }
    return output->commit().map([&] { return *summary; });
}

void remove_recording(const std::string& folder)
{
    std::error_code problem;
    for (const std::string& path : recordings_in(folder)) {
        fs::remove(path, problem);
    }
    fs::remove(folder, problem);  // left alone when something else is in it
}

}  // namespace memsweep::app
