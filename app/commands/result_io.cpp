#include "app/commands/result_io.hpp"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "app/cli/messages.hpp"
#include "app/cli/option_values.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/formats.hpp"
#include "reporters/json/fleet_json.hpp"
#include "reporters/json/result_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"

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

constexpr std::uint64_t largest_result_bytes = 1ULL << 30;

}  // namespace

OptionValue report_targets(std::vector<ReportTarget>& targets)
{
    return value::each(
        [&targets](const std::string& text) -> base::Expected<void> {
            const std::size_t at = text.find('=');
            targets.push_back({text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)});
            return {};
        },
        Arity::many);
}

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

base::Expected<model::RunReport> read_result(const std::string& path)
{
    return sys::read_file(path, largest_result_bytes).and_then([&](const std::string& text) {
        return reporters::read_json(text, path);
    });
}

base::Expected<AnyResult> read_any_result(const std::string& path)
{
    const auto text = sys::read_file(path, largest_result_bytes);
    if (!text) {
        return base::fail(text.error());
    }
    if (reporters::is_fleet(*text)) {
        return reporters::read_fleet(*text, path).map([](model::Fleet fleet) { return AnyResult{std::move(fleet)}; });
    }
    return reporters::read_json(*text, path).map([](model::RunReport report) { return AnyResult{std::move(report)}; });
}

}  // namespace memsweep::app
