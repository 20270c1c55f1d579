#include "app/report_output.hpp"

#include "app/commands.hpp"
#include "app/terminal_style.hpp"
#include "core/sys/atomic_file.hpp"
#include "reporters/formats.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::app {
namespace {

std::string rendered(const model::RunReport& report, const reporters::Format& format, const ReportTarget& target,
                     const GlobalOptions& global)
{
    if (format.name == "text" && to_stdout(target)) {
        return reporters::to_terminal(report, terminal_style(global));
    }
    return format.write(report);
}

}  // namespace

bool to_stdout(const ReportTarget& target)
{
    return target.path.empty() || target.path == "-";
}

ExitCode write_report(const model::RunReport& report, const ReportTarget& target, const GlobalOptions& global)
{
    const auto format = reporters::find_format(target.format);
    if (!format) {
        print_error(format.error());
        return ExitCode::bad_input;
    }
    return write_text(rendered(report, *format, target, global), target.path);
}

ExitCode write_text(const std::string& text, const std::string& path)
{
    if (path.empty() || path == "-") {
        return print_data(text) ? ExitCode::done : ExitCode::bad_input;
    }
    if (const auto written = sys::write_file_atomically(path, text); !written) {
        print_error(written.error());
        return ExitCode::bad_input;
    }
    return ExitCode::done;
}

ExitCode check_target(const ReportTarget& target)
{
    const auto format = reporters::find_format(target.format);
    if (!format) {
        print_error(format.error());
        return ExitCode::bad_input;
    }
    constexpr std::uint64_t typical_report_bytes = 256 << 10;
    if (to_stdout(target)) {
        return ExitCode::done;
    }
    if (const auto writable = sys::check_writable(target.path, typical_report_bytes); !writable) {
        print_error(writable.error());
        return ExitCode::bad_input;
    }
    return ExitCode::done;
}

}  // namespace memsweep::app
