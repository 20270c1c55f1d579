// Writes a report in one format to a file or to stdout.
#pragma once

#include <string>

#include "app/exit_code.hpp"
#include "app/options.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

[[nodiscard]] bool to_stdout(const ReportTarget& target);

// On stdout in the terminal's style: see terminal_style.hpp.
[[nodiscard]] ExitCode write_report(const model::RunReport& report, const ReportTarget& target,
                                    const GlobalOptions& global);

// A whole text, to a file (replaced by a rename) or, when the path is empty or "-", to stdout.
[[nodiscard]] ExitCode write_text(const std::string& text, const std::string& path);

// Unknown formats and files that cannot be written, found before anything is measured.
[[nodiscard]] ExitCode check_target(const ReportTarget& target);

}  // namespace memsweep::app
