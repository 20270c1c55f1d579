#include "app/shipped.hpp"

#include <filesystem>

namespace memsweep::app {

std::string shipped(const std::string& relative)
{
    namespace fs = std::filesystem;
    std::error_code problem;
    const fs::path here{relative};
    if (fs::exists(here, problem)) {
        return relative;
    }
    const fs::path executable = fs::read_symlink("/proc/self/exe", problem);
    const fs::path installed = executable.parent_path() / "../share/memsweep" / here;
    return fs::exists(installed, problem) ? installed.lexically_normal().string() : relative;
}

}  // namespace memsweep::app
