#include "app/report_output.hpp"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/terminal_style.hpp"
#include "core/sys/atomic_file.hpp"
#include "reporters/formats.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::app {
namespace {

// A pipe or a device, which has no files beside it.
bool is_stream(const std::string& path)
{
    std::error_code ignored;
    const auto kind = std::filesystem::status(path, ignored).type();
    return kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::fifo ||
           kind == std::filesystem::file_type::socket;
}

std::vector<reporters::FormatFile> files_for(const reporters::Format& format, const std::string& path)
{
    return is_stream(path) ? std::vector{reporters::FormatFile{path, format}} : reporters::files_of(format, path);
}

ExitCode check_one_text(const model::RunReport& report, const reporters::Format& format)
{
    if (format.fits_one_text == nullptr || format.fits_one_text(report)) {
        return ExitCode::done;
    }
    print_error({base::ErrorCode::invalid_input,
                 fmt::format("this result needs several files in format {}: name one with -o or {}=FILE, or choose {}",
                             format.name, format.name, fmt::join(format.parts, " or ")),
                 "stdout"});
    return ExitCode::bad_input;
}

ExitCode print_report(const model::RunReport& report, const reporters::Format& format, const GlobalOptions& global)
{
    reporters::TextSink sink{print_data};
    if (format.name == "text") {
        sink.add(reporters::to_terminal(report, terminal_style(global)));
    } else {
        format.write(report, sink);
    }
    return sink.finish() ? ExitCode::done : ExitCode::bad_input;
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
    if ((to_stdout(target) || is_stream(target.path)) && check_one_text(report, *format) != ExitCode::done) {
        return ExitCode::bad_input;
    }
    if (to_stdout(target)) {
        return print_report(report, *format, global);
    }
    for (const reporters::FormatFile& file : files_for(*format, target.path)) {
        const auto written = sys::write_file_atomically(file.path, [&](const sys::PieceTaker& take) {
            reporters::TextSink sink{take};
            file.format.write(report, sink);
            static_cast<void>(sink.finish());
        });
        if (!written) {
            print_error(written.error());
            return ExitCode::bad_input;
        }
    }
    return ExitCode::done;
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
    for (const reporters::FormatFile& file : files_for(*format, target.path)) {
        if (const auto writable = sys::check_writable(file.path, typical_report_bytes); !writable) {
            print_error(writable.error());
            return ExitCode::bad_input;
        }
    }
    return ExitCode::done;
}

}  // namespace memsweep::app
