// Reads results and writes reports in every format, by path. The path "-" is stdin or stdout.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/console.hpp"
#include "core/base/expected.hpp"
#include "core/model/fleet.hpp"
#include "core/model/report.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/formats.hpp"

namespace memsweep::app {

// Errors   the messages name the path and the position in the file.
[[nodiscard]] base::Expected<model::RunReport> read_result(const std::string& path);

// What a file holds: the result of one machine, or a fleet.
using AnyResult = std::variant<model::RunReport, model::Fleet>;
[[nodiscard]] base::Expected<AnyResult> read_any_result(const std::string& path);

// Checks that at most one path is stdin.
//
// Errors   invalid_input: "-" occurs more than once in `paths`.
[[nodiscard]] base::Expected<void> check_one_stdin(const std::vector<std::string>& paths);

// Writes a file under a temporary name and renames it when it is complete.
using WriteText = std::function<void(reporters::TextSink&)>;
[[nodiscard]] base::Expected<void> write_file(const std::string& path, const WriteText& write);

// Says whether the path means stdout, because it is empty or "-".
[[nodiscard]] bool is_stdout(const std::string& path);

// Writes the text to a file or, if the path is empty or "-", to stdout. Errors are printed. The overload with
// `write` escapes control characters if the output is a terminal; files and pipes get the text unchanged. The overload
// with `text` escapes nothing.
[[nodiscard]] ExitCode write_text(const WriteText& write, const std::string& path);
[[nodiscard]] ExitCode write_text(const std::string& text, const std::string& path);

// Writes a report in a format. The format `text` on stdout has the style of the terminal (console.hpp).
template <typename Report>
[[nodiscard]] ExitCode write_in(const reporters::Format& format, const Report& report, const std::string& path,
                                const GlobalOptions& global)
{
    if (format.name == "text" && is_stdout(path)) {
        return write_text(reporters::to_terminal(report, terminal_style(global)), path);
    }
    return write_text([&](reporters::TextSink& sink) { format.write(report, sink); }, path);
}

// Writes a whole result. With Existing::keep an existing file is an error (io).
[[nodiscard]] base::Expected<void> write_result(const model::RunReport& report, const std::string& path,
                                                sys::Existing existing = sys::Existing::replace);
// Call if a result could not be written to its path. Saves the result in TMPDIR, or in /tmp if TMPDIR is not set, and
// prints where.
void save_in_refuge(const model::RunReport& report);

// A file that a command reads or writes, and the option that names it.
struct NamedFile {
    std::string name;  // "--out"
    std::string path;  // empty or "-": no file
};

// Checks that no output overwrites another file of the command.
//
// Errors   invalid_input: two outputs are the same file, or an output is the same file as an input
//          (sys::is_same_output).
[[nodiscard]] base::Expected<void> check_distinct(const std::vector<NamedFile>& outputs,
                                                  const std::vector<NamedFile>& inputs);
[[nodiscard]] base::Expected<void> check_out(const std::string& out, const std::vector<std::string>& inputs);

struct ReportTarget {
    std::string format;
    std::string path;  // empty or "-": stdout
};

// Makes the value of an option -r FMT[=FILE], such as "-r html=out.html".
[[nodiscard]] OptionValue report_targets(std::vector<ReportTarget>& targets);

// Returns the files that a target writes. A format with parts has a file for each part. A target that goes to stdout
// has none.
[[nodiscard]] std::vector<NamedFile> files_of(const ReportTarget& target);

// Writes a report to its target. A format with parts writes a file for each part. `against`: a comparison that is
// not part of the report itself; formats that show verdicts show this comparison, too.
[[nodiscard]] ExitCode write_report(const model::RunReport& report, const ReportTarget& target,
                                    const GlobalOptions& global,
                                    const std::optional<reporters::ComparisonReport>& against = {});

// Prints on stderr the failures that decided the exit code. Used if the report goes to a file, to a program or nowhere.
void print_failures(const model::RunReport& report);

// Checks a target. Call it before anything is measured.
//
// Errors   the format is unknown, or the file cannot be written.
[[nodiscard]] base::Expected<void> check_target(const ReportTarget& target);

// The values of placeholders in a path, such as the path of --out.
//
// %h  host: SLURMD_NODENAME if Slurm runs us, else the host name       %s  scenario
// %r  rank: OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID, else 0     %t  UTC, 20260131T120000Z    %%  a percent sign
struct PathFacts {
    std::string host;
    std::string scenario;
    std::string utc;  // 2026-01-31T12:00:00.000Z
};

// Replaces the placeholders of a path.
//
// Errors   invalid_input: an unknown placeholder.
[[nodiscard]] base::Expected<std::string> expand_path(const std::string& pattern, const PathFacts& facts);

// Returns an error if several ranks would write the same file. The error names the placeholder that the path `pattern`
// lacks. nullopt: each rank writes a file of its own, or `pattern` is stdout or a device.
[[nodiscard]] std::optional<base::Error> shared_path(const std::string& pattern, const model::LaunchPlace& placement);

}  // namespace memsweep::app
