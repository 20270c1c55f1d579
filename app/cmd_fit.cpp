#include <algorithm>

#include "app/commands.hpp"
#include "app/report_output.hpp"
#include "app/terminal_style.hpp"
#include "core/trace/fit.hpp"
#include "reporters/fit_html.hpp"
#include "reporters/fit_writer.hpp"
#include "reporters/trace_summary_writer.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t host_alignment_bytes = 16;     // malloc's
constexpr std::uint64_t device_alignment_bytes = 256;  // cudaMalloc's

bool is_wanted(const FitCommand& command, std::string_view policy)
{
    return command.policies.empty() || std::ranges::find(command.policies, policy) != command.policies.end();
}

// Of the policies that have one arena.
std::vector<reporters::PolicyPicture> pictures_of(const FitCommand& command, const trace::PlacementOps& ops,
                                                  const trace::FitOptions& options)
{
    constexpr std::size_t columns = 96;
    constexpr std::size_t rows = 64;
    std::vector<reporters::PolicyPicture> pictures;
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        if (is_wanted(command, policy.name)) {
            if (auto picture = trace::picture_addresses(ops, policy, options, columns, rows)) {
                pictures.push_back({std::string{policy.name}, *std::move(picture)});
            }
        }
    }
    return pictures;
}

std::string text_of(const FitCommand& command, const reporters::FitReport& report, const trace::PlacementOps& ops,
                    const GlobalOptions& global)
{
    if (command.format == "json") {
        return reporters::to_json(report);
    }
    if (command.format == "html") {
        return reporters::to_html(report, command.trace, pictures_of(command, ops, report.options));
    }
    return reporters::to_terminal(report, terminal_style(global));
}

}  // namespace

ExitCode execute(const FitCommand& command, const GlobalOptions& global)
{
    auto reader = trace::TraceReader::open(command.trace);
    if (!reader) {
        print_error(reader.error());
        return ExitCode::bad_input;
    }
    const trace::PlacementOps ops = trace::placement_ops(*reader);
    ExitCode code = ExitCode::done;
    if (const std::string note = reporters::damage_text(reader->damage()); !note.empty()) {
        print_note(command.trace + ": " + note);
        code = ExitCode::finding;
    }
    const std::uint64_t usual = ops.on_device ? device_alignment_bytes : host_alignment_bytes;
    const trace::FitOptions options{
        .capacity = command.capacity_bytes, .alignment = command.alignment_bytes.value_or(usual), .runs = command.runs};
    reporters::FitReport report{.live_peak = ops.live_peak, .options = options, .policies = {}};
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        if (is_wanted(command, policy.name)) {
            report.policies.push_back(trace::fit(ops, policy, options));
            const bool fails = command.capacity_bytes && report.policies.back().first_failure;
            code = fails ? ExitCode::finding : code;
        }
    }
    return worse(code, write_text(text_of(command, report, ops, global), command.out));
}

}  // namespace memsweep::app
