#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/fit.hpp"
#include "reporters/document/fit.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

struct FitCommand {
    std::string trace;
    std::string format{"text"};
    std::string out;
    std::vector<std::string> policies;  // empty: all
    std::optional<std::uint64_t> capacity_bytes;
    std::optional<std::uint64_t> alignment_bytes;
    std::uint64_t runs{1};
};

constexpr std::uint64_t host_alignment_bytes = 16;     // malloc's
constexpr std::uint64_t device_alignment_bytes = 256;  // cudaMalloc's

std::vector<trace::PlacementPolicy> wanted_policies(const FitCommand& command)
{
    std::vector<trace::PlacementPolicy> wanted;
    std::ranges::copy_if(trace::placement_policies(), std::back_inserter(wanted), [&](const auto& policy) {
        return command.policies.empty() || std::ranges::find(command.policies, policy.name) != command.policies.end();
    });
    return wanted;
}

// Each policy in the smallest capacity that suffices.
std::vector<reporters::PolicyPicture> pictures_of(const reporters::FitReport& report, const trace::PlacementOps& ops)
{
    constexpr std::size_t columns = 96;
    constexpr std::size_t rows = 64;
    std::vector<reporters::PolicyPicture> pictures;
    for (const trace::PolicyFit& fit : report.policies) {
        const auto policy = std::ranges::find(trace::placement_policies(), fit.policy, &trace::PlacementPolicy::name);
        trace::FitOptions options = report.options;
        options.capacity = fit.capacity;
        if (auto picture = trace::picture_addresses(ops, *policy, options, columns, rows)) {
            pictures.push_back({std::string{fit.policy}, *std::move(picture)});
        }
    }
    return pictures;
}

std::string text_of(const FitCommand& command, reporters::FitReport& report, const trace::PlacementOps& ops,
                    const GlobalOptions& global)
{
    if (command.format == "json") {
        return reporters::to_json(report);
    }
    if (command.format == "html") {
        report.pictures = pictures_of(report, ops);
        return reporters::to_html(report);
    }
    return reporters::to_terminal(report, terminal_style(global));
}

base::Expected<ExitCode> execute(const FitCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, {command.trace}));
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
    const trace::PlacementOps ops = trace::placement_ops(reader);
    if (ops.impossible_event != 0) {
        return refuse(fmt::format("event {} takes what is live beyond 64 PiB, which no capacity is fitted to",
                                  ops.impossible_event),
                      command.trace);
    }
    ExitCode code = note_damage(command.trace, reader.damage());
    const std::uint64_t usual = ops.on_device ? device_alignment_bytes : host_alignment_bytes;
    const trace::FitOptions options{
        .capacity = command.capacity_bytes, .alignment = command.alignment_bytes.value_or(usual), .runs = command.runs};
    reporters::FitReport report{
        .trace_name = command.trace, .live_peak = ops.live_peak, .options = options, .policies = {}, .pictures = {}};
    for (const trace::PlacementPolicy& policy : wanted_policies(command)) {
        report.policies.push_back(trace::fit(ops, policy, options));
        if (const std::uint64_t event = report.policies.back().impossible_event; event != 0) {
            return refuse(fmt::format("event {} fits into no capacity by {}: rounded up, the sizes exceed 64 bits",
                                      event, policy.name),
                          command.trace);
        }
        const bool fails = command.capacity_bytes && report.policies.back().first_failure;
        code = fails ? ExitCode::finding : code;
    }
    return worse(code, write_text(text_of(command, report, ops, global), command.out));
}

}  // namespace

void add_fit(Command& program, const GlobalOptions& global)
{
    Command& command = program.command("fit", "Smallest capacity a trace needs per placement policy; needs no GPU");
    auto& fit = arguments_of<FitCommand>(command, global, execute);
    command.positional("trace FILE", value::text(fit.trace), "A trace (.mst); - is stdin");
    command.option("--capacity SIZE", value::size(fit.capacity_bytes),
                   "Also say what fails first at this capacity, as in 80GiB");
    command.option("--policy POLICY", value::words(fit.policies, value::names_in(trace::placement_policies())),
                   "Only this policy (repeatable)");
    command.option("--alignment SIZE", value::size(fit.alignment_bytes),
                   "Sizes are rounded up to it (default 16B, and 256B where there are devices)");
    command.option("--runs N", value::number(fit.runs, 1, 1000), "The same run so often: what the last one needs");
    command.format_option(fit.format, value::word(fit.format, {"text", "json", "html"}),
                          "text, json, or html with pictures of the address space");
    command.option("-o,--out FILE", value::text(fit.out), "Where to write (default stdout)");
    command.footer =
        "Exit codes: 0 done; 1 --capacity is too small for a policy, or parts of the trace were damaged and left "
        "out; 2 unreadable.";
    command.check = [&fit]() -> base::Expected<void> {
        if (fit.alignment_bytes && !std::has_single_bit(*fit.alignment_bytes)) {
            return refuse("not a power of two", "--alignment");
        }
        return {};
    };
}

}  // namespace memsweep::app
