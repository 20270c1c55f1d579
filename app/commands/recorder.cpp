#include "app/commands/recorder.hpp"

#include <filesystem>
#include <system_error>

#include "core/sys/process_probe.hpp"

namespace memsweep::app {

base::Expected<std::string> recorder_library()
{
    std::error_code problem;
    const std::filesystem::path folder = MEMSWEEP_TRY(sys::own_program_folder());
    for (const char* const place : {"libmemsweep_record.so", "../lib/memsweep/libmemsweep_record.so"}) {
        const std::filesystem::path path = (folder / place).lexically_normal();
        if (!std::filesystem::exists(path, problem)) {
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

}  // namespace memsweep::app
