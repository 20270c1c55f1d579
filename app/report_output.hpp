// Writes a report in one format to a file or to stdout.
#pragma once

#include "app/exit_code.hpp"
#include "app/options.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

[[nodiscard]] bool to_stdout(const ReportTarget& target);

// Colour as --color, NO_COLOR, CLICOLOR_FORCE and the terminal decide; the terminal's own width.
[[nodiscard]] ExitCode write_report(const model::RunReport& report, const ReportTarget& target,
                                    const GlobalOptions& global);

// Unknown formats and files that cannot be written, found before anything is measured.
[[nodiscard]] ExitCode check_target(const ReportTarget& target);

}  // namespace memsweep::app
