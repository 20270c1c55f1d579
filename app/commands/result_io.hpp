// Reads results, and writes reports in one format or another, by their paths; "-" is stdin or stdout.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/cli/global_options.hpp"
#include "core/base/expected.hpp"
#include "core/model/fleet.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

struct ReportTarget {
    std::string format;
    std::string path;  // empty or "-": stdout
};

// The value of an option -r FMT[=FILE].
[[nodiscard]] OptionValue report_targets(std::vector<ReportTarget>& targets);

[[nodiscard]] bool to_stdout(const ReportTarget& target);

// On stdout in the terminal's style: see global_options.hpp.
[[nodiscard]] ExitCode write_report(const model::RunReport& report, const ReportTarget& target,
                                    const GlobalOptions& global);

// A whole text, to a file (replaced by a rename) or, when the path is empty or "-", to stdout.
[[nodiscard]] ExitCode write_text(const std::string& text, const std::string& path);

// Unknown formats and files that cannot be written, found before anything is measured.
[[nodiscard]] ExitCode check_target(const ReportTarget& target);

// Errors   name the path and the place within.
[[nodiscard]] base::Expected<model::RunReport> read_result(const std::string& path);

// Whichever of the two the file holds.
using AnyResult = std::variant<model::RunReport, model::Fleet>;
[[nodiscard]] base::Expected<AnyResult> read_any_result(const std::string& path);

}  // namespace memsweep::app
