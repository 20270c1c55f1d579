// One function per command, in cmd_<command>.cpp. Data goes to stdout, everything else to stderr.
#pragma once

#include <string_view>

#include "app/exit_code.hpp"
#include "app/options.hpp"
#include "core/base/error.hpp"

namespace memsweep::app {

[[nodiscard]] ExitCode execute(const RunCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const CompareCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const ReportCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const ValidateCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const ListCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const SchemaCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const MergeCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const DoctorCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const InfoCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const CliffsCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const MallocCostCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const ImportCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const ExportCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const FitCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const ReplayCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const RecordCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const WatchCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const ProbeCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const CompletionCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const ManCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const VersionCommand& command, const GlobalOptions& global);
[[nodiscard]] ExitCode execute(const WorkerCommand& command, const GlobalOptions& global);

// "memsweep: error: where: message" on stderr.
void print_error(const base::Error& error);
void print_note(std::string_view message);

// All of it, or false: a closed pipe or a full disk behind stdout must not look like success.
[[nodiscard]] bool print_data(std::string_view text);

}  // namespace memsweep::app
