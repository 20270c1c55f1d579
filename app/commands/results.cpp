#include "app/commands/results.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"
#include "app/commands/foreign_files.hpp"
#include "app/commands/this_machine.hpp"
#include "core/base/printable.hpp"
#include "core/base/text.hpp"
#include "core/measure/findings.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/json/fleet_json.hpp"
#include "reporters/json/result_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/wording/finding_words.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t largest_result_bytes = 1ULL << 30;

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

// A part that the report has nothing for, unless an earlier one would be taken for it.
bool is_left_out(const reporters::FormatFile& file, const model::RunReport& report)
{
    std::error_code ignored;
    return file.format.has_rows != nullptr && !file.format.has_rows(report) &&
           !std::filesystem::exists(file.path, ignored);
}

bool has(const std::string& pattern, char letter)
{
    for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
        if (pattern[i] == '%') {
            if (pattern[++i] == letter) {
                return true;
            }
        }
    }
    return false;
}

// 2026-01-31T12:00:00.000Z -> 20260131T120000Z, which any file system takes.
std::string compact(const std::string& utc)
{
    std::string text;
    for (const char c : utc.substr(0, utc.find('.'))) {
        if (c != '-' && c != ':' && c != 'Z') {
            text += c;
        }
    }
    return text + "Z";
}

// A host or scenario name must not reach into another folder.
std::string file_name(std::string text)
{
    for (char& c : text) {
        if (c == '/' || std::iscntrl(static_cast<unsigned char>(c)) != 0) {
            c = '_';
        }
    }
    return text;
}

// Of a regular file; empty: there is none that can be read.
std::string first_bytes(const std::string& path)
{
    const sys::UniqueFd file = sys::open_regular_file(path);
    std::array<char, foreign_head_bytes> head{};
    const auto bytes = sys::pread_text(file.get(), head);
    return std::string{bytes.value_or("")};
}

}  // namespace

base::Expected<model::RunReport> read_result(const std::string& path)
{
    const std::string text = MEMSWEEP_TRY(sys::read_file(path, largest_result_bytes));
    return reporters::read_json(text, path);
}

base::Expected<AnyResult> read_any_result(const std::string& path)
{
    const auto text = sys::read_file(path, largest_result_bytes);
    // What is no text is not read, and yet known by its first bytes.
    const std::string head = text ? text->substr(0, foreign_head_bytes) : first_bytes(path);
    if (std::string other = foreign_file(head); !other.empty()) {
        return refuse(std::move(other), path);
    }
    if (!text) {
        return base::fail(text.error());
    }
    if (reporters::is_fleet(*text)) {
        return MEMSWEEP_TRY(reporters::read_fleet(*text, path));
    }
    return MEMSWEEP_TRY(reporters::read_json(*text, path));
}

base::Expected<void> check_one_stdin(const std::vector<std::string>& paths)
{
    if (std::ranges::count(paths, "-") > 1) {
        return refuse("the standard input holds one result only", "-");
    }
    return {};
}

base::Expected<void> write_file(const std::string& path, const WriteText& write)
{
    return sys::write_file_atomically(path, [&](const sys::PieceTaker& take) {
        reporters::TextSink sink{take};
        write(sink);
        static_cast<void>(sink.finish());
    });
}

bool is_stdout(const std::string& path)
{
    return path.empty() || path == "-";
}

ExitCode write_text(const WriteText& write, const std::string& path)
{
    if (!is_stdout(path)) {
        return settled(write_file(path, write));
    }
    const bool is_seen = isatty(STDOUT_FILENO) == 1;
    reporters::TextSink sink{[is_seen](std::string_view text) {
        return is_seen ? print_data(reporters::inert_lines(text)) : print_data(text);
    }};
    write(sink);
    return sink.finish() ? ExitCode::done : ExitCode::bad_input;
}

ExitCode write_text(const std::string& text, const std::string& path)
{
    return is_stdout(path) ? print_text(text)
                           : settled(write_file(path, [&](reporters::TextSink& sink) { sink.add(text); }));
}

base::Expected<void> write_result(const model::RunReport& report, const std::string& path, sys::Existing existing)
{
    const auto write = [&](const sys::PieceTaker& take) {
        reporters::TextSink sink{take};
        reporters::write_json(report, sink);
        static_cast<void>(sink.finish());
    };
    return sys::write_file_atomically(path, write, existing);
}

void save_in_refuge(const model::RunReport& report)
{
    const char* const folder = std::getenv("TMPDIR");
    const std::string refuge = fmt::format("{}/memsweep-{}.json", folder != nullptr ? folder : "/tmp", report.run.id);
    if (const auto written = write_result(report, refuge); written) {
        print_note(fmt::format("the result was saved as {} instead", refuge));
    } else {
        print_error(written.error());
    }
}

base::Expected<void> check_distinct(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs)
{
    std::vector<NamedFile> others = inputs;
    for (const NamedFile& output : outputs) {
        if (is_stdout(output.path)) {
            continue;
        }
        for (const NamedFile& other : others) {
            if (!is_stdout(other.path) && sys::is_same_output(output.path, other.path)) {
                return refuse(fmt::format("{} and {} name the same file ({})", output.name, other.name, other.path),
                              output.path);
            }
        }
        others.push_back(output);
    }
    return {};
}

base::Expected<void> check_out(const std::string& out, const std::vector<std::string>& inputs)
{
    std::vector<NamedFile> named;
    for (const std::string& input : inputs) {
        named.push_back({"what is read", input});
    }
    return check_distinct({{"--out", out}}, named);
}

std::vector<NamedFile> files_of(const ReportTarget& target)
{
    std::vector<NamedFile> files;
    if (const auto format = reporters::find_format(target.format); format && !is_stdout(target.path)) {
        for (const reporters::FormatFile& file : files_for(*format, target.path)) {
            files.push_back({"--report " + target.format, file.path});
        }
    }
    return files;
}

OptionValue report_targets(std::vector<ReportTarget>& targets)
{
    return value::each(
        [&targets](const std::string& text) -> base::Expected<void> {
            if (base::parse_number(text)) {
                return refuse(
                    fmt::format("\"{0}\" is no format; hyperfine's -r {0} is -n {0} or --runs {0} here", text));
            }
            const std::size_t at = text.find('=');
            targets.push_back({text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)});
            return {};
        },
        Arity::each_time);
}

namespace {

// One text of a format; with the comparison if the format has a form for both.
ExitCode write_one(const reporters::Format& format, const model::RunReport& report,
                   const std::optional<reporters::ComparisonReport>& against, const std::string& path,
                   const GlobalOptions& global)
{
    if (against && format.writes<reporters::ComparedRun>()) {
        return write_in(format, reporters::ComparedRun{report, *against}, path, global);
    }
    return write_in(format, report, path, global);
}

}  // namespace

ExitCode write_report(const model::RunReport& report, const ReportTarget& target, const GlobalOptions& global,
                      const std::optional<reporters::ComparisonReport>& against)
{
    const auto format = reporters::find_format(target.format);
    if (!format) {
        print_error(format.error());
        return ExitCode::bad_input;
    }
    const bool is_one_text = is_stdout(target.path) || is_stream(target.path);
    if (is_one_text && format->fits_one_text != nullptr && !format->fits_one_text(report)) {
        print_error(
            {base::ErrorCode::invalid_input,
             fmt::format("this result needs several files in format {}: name one with -o or {}=FILE, or choose {}",
                         format->name, format->name, fmt::join(format->parts, " or ")),
             "stdout"});
        return ExitCode::bad_input;
    }
    if (is_stdout(target.path)) {
        auto compared = format->name == "text" ? reporters::comparison_report(report) : std::nullopt;
        if (!compared) {
            return write_one(*format, report, against, target.path, global);
        }
        compared->only_changed = !global.verbose;
        const reporters::TerminalStyle style = terminal_style(global);
        if (reporters::has_failed(report)) {
            const reporters::ComparedRun failed{report, *std::move(compared)};
            return write_text(fmt::format("{}\n{}", base::printable(report.run.scenario_description),
                                          reporters::to_terminal(failed, style)),
                              target.path);
        }
        return write_text(fmt::format("{}\n{}\n{}", base::printable(report.run.scenario_description),
                                      reporters::to_terminal(*compared, style),
                                      reporters::to_terminal(reporters::without_sites(report), style)),
                          target.path);
    }
    for (const reporters::FormatFile& file : files_for(*format, target.path)) {
        if (file.format.name != format->name && is_left_out(file, report)) {
            continue;
        }
        if (write_one(file.format, report, against, file.path, global) != ExitCode::done) {
            return ExitCode::bad_input;
        }
    }
    return ExitCode::done;
}

void print_failures(const model::RunReport& report)
{
    for (const measure::Finding& finding : measure::failures(report)) {
        print_note(reporters::sentence(finding));
    }
}

base::Expected<void> check_target(const ReportTarget& target)
{
    constexpr std::uint64_t typical_report_bytes = 256 << 10;
    const reporters::Format format = MEMSWEEP_TRY(reporters::find_format(target.format));
    if (is_stdout(target.path)) {
        return {};
    }
    for (const reporters::FormatFile& file : files_for(format, target.path)) {
        MEMSWEEP_TRY(sys::check_writable(file.path, typical_report_bytes));
    }
    return {};
}

base::Expected<std::string> expand_path(const std::string& pattern, const PathFacts& facts)
{
    const std::map<std::string, std::string> letters{{"h", file_name(launched_host(facts.host))},
                                                     {"r", file_name(launched_rank())},
                                                     {"s", file_name(facts.scenario)},
                                                     {"t", compact(facts.utc)},
                                                     {"%", "%"}};
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            path += pattern[i];
            continue;
        }
        const std::string letter = pattern.substr(++i, 1);  // empty behind the last
        const auto known = letters.find(letter);
        if (known == letters.end()) {
            return refuse(fmt::format("\"%{}\" in \"{}\" is not %h, %r, %s, %t or %%", letter, pattern), "--out");
        }
        path += known->second;
    }
    return path;
}

std::optional<base::Error> shared_path(const std::string& pattern, const model::LaunchPlace& placement)
{
    const std::uint32_t ranks = placement.ranks.value_or(1);
    const std::uint32_t local = placement.local_ranks.value_or(1);
    const bool is_stream = pattern == "-" || pattern.starts_with("/dev/");
    if (ranks < 2 || is_stream || has(pattern, 'r')) {
        return std::nullopt;
    }
    if (!has(pattern, 'h')) {
        return base::Error{
            base::ErrorCode::invalid_input,
            fmt::format("{} ranks would write \"{}\"; %h makes it one file per host, %r per rank", ranks, pattern),
            "--out"};
    }
    if (local > 1) {
        return base::Error{base::ErrorCode::invalid_input,
                           fmt::format("{} ranks on this host would write \"{}\"; add %r", local, pattern), "--out"};
    }
    return std::nullopt;
}

}  // namespace memsweep::app
