#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/limit_files.hpp"
#include "app/commands/probing.hpp"
#include "app/commands/results.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/this_machine.hpp"
#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/output_file.hpp"
#include "core/sys/topology.hpp"
#include "reporters/formats.hpp"
#include "scenarios/reader/command_plans.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::app {
namespace {

// Scenarios of the catalog, probe_ and one of these: run by `memsweep run`, written by --dump-scenario.
constexpr std::array<std::string_view, 13> probe_presets{"host",  "numa",    "h2d",        "d2h",     "bidir",
                                                         "p2p",   "a2a",     "one2all",    "all2one", "latency",
                                                         "pages", "staging", "healthcheck"};
constexpr std::array<std::string_view, 6> probe_words{"topology", "bandwidth", "latency", "faults", "device", "all"};

// What the command line says, before its words are told apart.
struct ProbeArguments {
    std::vector<std::string> words;
    ProbeCommand probe;
};

OptionValue number_list(std::vector<std::uint32_t>& target)
{
    return value::parsed(target, [](const std::string& list) -> base::Expected<std::vector<std::uint32_t>> {
        auto numbers = sys::parse_list(list);
        if (!list.empty() && !numbers) {
            return refuse(fmt::format("\"{}\" is no list of numbers such as 0,2-3", list));
        }
        return list.empty() ? std::vector<std::uint32_t>{} : *std::move(numbers);
    });
}

void add_cases(Command& command, ProbeCommand& probe)
{
    command.group = "Cases";
    command.option("-k,--filter REGEX", value::text(probe.filter),
                   "Only cases whose id matches this regular expression");
    command.option("--nodes LIST", number_list(probe.nodes), "Only these NUMA nodes, as in 0,2-3 (default: all)");
    command.option("--devices LIST", number_list(probe.devices),
                   "Only these devices, as in 0,2-3 (default: all), and gpu* stands for them");
    command.option("--pairs N", value::number(probe.pairs, 1, 1'000'000),
                   "Of devices, at most so many in each case (default: all), each device as often");
    command.flag("--ballast", probe.ballast,
                 "Measure managed memory beyond a device's own too, for which the rest of that is taken for a moment: "
                 "other programs on it may be refused memory meanwhile");
}

void add_measuring(Command& command, ProbeCommand& probe)
{
    command.group = "Measuring";
    command.option("--size SIZE", value::size(probe.array_bytes),
                   "Of each of three arrays (default: beyond the caches measured, 256MiB or more), or of a transfer "
                   "(default 256MiB)");
    command.option("--min-time DURATION", value::duration(probe.min_time),
                   "Of each sample of a bandwidth (default 20ms)");
    command.option("-n,--repetitions,--samples N", value::number(probe.samples, 1, 10'000),
                   "Samples of each case (default 9)");
}

void add_output(Command& command, ProbeCommand& probe)
{
    command.group = "Output";
    command
        .option("--limits FILE", value::text(probe.limits),
                "Hold the figures against this file, or one that ships (h100, h200): exit code 1, each violated limit "
                "is named, and how far from the nearest one the others are; - is stdin")
        .look_up = shipped_limits;
    add_limits_to_write(command, probe.limits_to_write);
    command.option("--svg FILE", value::text(probe.svg), "Draw the machine into this file, as lstopo does");
    command.option("--xml FILE", value::text(probe.xml),
                   "Describe the machine in this file, for lstopo and whatever else uses hwloc");
    command.format_option(
        probe.format, value::offering(value::text(probe.format), value::names_in(reporters::formats())),
        "text, json, csv, html and the others of `memsweep list formats` (default text; json for -o)");
    command.option("-o,--out FILE", value::text(probe.out),
                   "Write the format to this file; %h host, %r rank, %s what is probed, %t UTC; - is stdout");
    command.option("--tag KEY=VALUE", value::pairs(probe.tags, "KEY=VALUE", Arity::each_time),
                   "Record a tag in the result, as rack=r7 (repeatable)");
    command.flag("--dump-scenario", probe.dump_scenario,
                 "Measure nothing: write the transfers, or a preset of the catalog such as h2d, numa or healthcheck, "
                 "as a scenario for `memsweep run` (to -o, or stdout)");
}

bool is_preset(const std::string& word)
{
    return std::ranges::find(probe_presets, word) != probe_presets.end();
}

base::Expected<void> sort_out(const std::string& word, ProbeCommand& probe)
{
    if (word.find("->") != std::string::npos) {
        auto transfer = model::parse_transfer(word);
        if (!transfer) {
            return refuse(transfer.error().message, "WHAT");
        }
        probe.transfers.push_back(*std::move(transfer));
        return {};
    }
    if (std::ranges::find(probe_words, word) == probe_words.end()) {
        return refuse(is_preset(word)
                          ? fmt::format("\"{0}\" is a scenario: memsweep run probe_{0} runs it, and "
                                        "memsweep probe {0} --dump-scenario writes it",
                                        word)
                          : fmt::format("\"{}\" is nothing to probe{}", word, base::suggestion(word, probe_words)),
                      "WHAT");
    }
    probe.what.push_back(word);
    return {};
}

// What is written in place of a measurement: transfers, or one preset.
base::Expected<void> check_dumped(const ProbeCommand& probe)
{
    if (!probe.preset.empty() && (probe.array_bytes || probe.samples)) {
        return refuse("writes a preset as it is: edit it, or give memsweep run -n", "--dump-scenario");
    }
    if (probe.preset.empty() && (probe.transfers.empty() || !probe.what.empty())) {
        return refuse(fmt::format("writes transfers, as in 'host -> cpu -> host', or one preset: {}",
                                  fmt::join(probe_presets, ", ")),
                      "--dump-scenario");
    }
    return {};
}

base::Expected<void> check(ProbeArguments& asked)
{
    constexpr std::uint64_t least_array_bytes = 64U << 10;
    constexpr std::chrono::seconds longest_sample{10};
    ProbeCommand& probe = asked.probe;
    if (probe.dump_scenario && asked.words.size() == 1 && is_preset(asked.words.front())) {
        probe.preset = asked.words.front();
        asked.words.clear();
    }
    for (const std::string& word : asked.words) {
        MEMSWEEP_TRY(sort_out(word, probe));
    }
    if (probe.array_bytes && *probe.array_bytes < least_array_bytes) {
        return refuse(fmt::format("at least {}", base::exact_size(least_array_bytes)), "--size");
    }
    if (probe.min_time && (*probe.min_time <= std::chrono::nanoseconds{} || *probe.min_time > longest_sample)) {
        return refuse("above 0 and at most 10s", "--min-time");
    }
    return probe.dump_scenario ? check_dumped(probe) : base::Expected<void>{};
}

// What there is to say goes to the file and, as text, to the terminal; or as the one format to stdout.
std::vector<ReportTarget> targets(const ProbeCommand& command, const GlobalOptions& global)
{
    const bool to_file = !command.out.empty() && command.out != "-";
    if (!to_file) {
        const std::string format = !command.format.empty() ? command.format : command.out == "-" ? "json" : "text";
        return global.quiet && format == "text" ? std::vector<ReportTarget>{}
                                                : std::vector<ReportTarget>{{format, "-"}};
    }
    std::vector<ReportTarget> both{{command.format.empty() ? "json" : command.format, command.out}};
    if (!global.quiet) {
        both.push_back({"text", "-"});
    }
    return both;
}

base::Expected<std::string> output_path(const ProbeCommand& command)
{
    const std::string host = sys::machine_facts().host;
    if (auto shared = shared_path(command.out, this_placement(host)); shared && !command.out.empty()) {
        return base::fail(*std::move(shared));
    }
    return command.out == "-" ? command.out : expand_path(command.out, {host, probe_name(command), sys::utc_now()});
}

ExitCode exit_code(const model::RunReport& report, const sys::StopSignals& signals)
{
    if (report.run.interrupted) {
        return stop_code(signals);
    }
    const model::StatusCounts counts = model::count(report);
    const ExitCode code = counts.errors != 0 ? ExitCode::case_failed : ExitCode::done;
    return counts.failed + counts.assertions_failed != 0 ? worse(code, ExitCode::finding) : code;
}

base::Expected<ExitCode> dump_scenario(const ProbeCommand& command)
{
    constexpr std::uint64_t usual_bytes = 64U << 20U;
    constexpr std::uint32_t usual_repetitions = 9;
    const std::string scenario =
        command.preset.empty()
            ? scenarios::transfer_scenario(command.transfers, command.array_bytes.value_or(usual_bytes),
                                           command.samples.value_or(usual_repetitions))
            : MEMSWEEP_TRY(scenarios::read_text_file(shipped("scenarios/catalog/probe_" + command.preset + ".json")));
    return write_text(scenario, command.out);
}

bool has_text_on_stdout(const std::vector<ReportTarget>& targets)
{
    return std::ranges::any_of(
        targets, [](const ReportTarget& target) { return target.format == "text" && target.path == "-"; });
}

// The machine itself, as lstopo shows it: into the files that were named, and above a report on the terminal.
bool show_machine(const ProbeCommand& command, const sys::Topology& topology, const std::vector<ReportTarget>& targets)
{
    const bool drawn = asks_for(command, "topology") && has_text_on_stdout(targets);
    const auto written = [](const std::string& path, const std::string& text) {
        return path.empty() || settled(sys::write_file_atomically(path, text)) == ExitCode::done;
    };
    return written(command.xml, topology.xml) && written(command.svg, sys::svg_of(topology)) &&
           (!drawn || print_data(sys::text_of(topology) + "\n"));
}

base::Expected<ExitCode> execute(const ProbeArguments& asked, const GlobalOptions& global)
{
    ProbeCommand command = asked.probe;
    command.out = MEMSWEEP_TRY(output_path(command));
    if (command.dump_scenario) {
        return dump_scenario(command);
    }
    const std::vector<ReportTarget> wanted = targets(command, global);
    for (const ReportTarget& target : wanted) {
        MEMSWEEP_TRY(check_target(target));
    }
    std::vector<NamedFile> outputs{
        {"--svg", command.svg}, {"--xml", command.xml}, {"--write-limits", command.limits_to_write.path}};
    for (const ReportTarget& target : wanted) {
        std::ranges::move(files_of(target), std::back_inserter(outputs));
    }
    MEMSWEEP_TRY(check_distinct(outputs, {{"--limits", command.limits}}));
    const auto limits = limits_in(command.limits);
    if (!limits) {
        return ExitCode::bad_input;
    }
    const sys::Topology topology = MEMSWEEP_TRY(sys::load_topology());
    const sys::StopSignals signals;
    const sys::SystemClock clock;
    model::RunReport report = MEMSWEEP_TRY(probe(command, global, topology, clock, signals));
    if (report.cases.empty() && !report.run.interrupted && !command.filter.empty()) {
        return refuse(fmt::format("no case of {} matches \"{}\"; -f csv-summary lists the ids of all",
                                  probe_name(command), base::printable(command.filter)),
                      "--filter");
    }
    if (asks_for(command, "topology")) {
        report.machine.topology = topology.xml;
    }
    if (!show_machine(command, topology, wanted)) {
        return ExitCode::bad_input;
    }
    static_cast<void>(judge_by_limits(*limits, report));
    ExitCode code = exit_code(report, signals);
    report.run.exit_code = static_cast<int>(code);
    ExitCode written = ExitCode::done;
    for (const ReportTarget& target : wanted) {
        written = worse(written, write_report(report, target, global));
    }
    if (written != ExitCode::done) {
        save_in_refuge(report);
    }
    if (code != ExitCode::done && !has_text_on_stdout(wanted)) {
        print_failures(report);
    }
    if (!report.run.interrupted) {
        written = worse(written, settled(write_limits(command.limits_to_write, report)));
    }
    code = worse(code, written);
    return signals.pending() ? worse(code, stop_code(signals)) : code;
}

}  // namespace

void add_probe(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("probe", "Measure this machine: topology, bandwidth, latency, faults, devices");
    auto& asked = arguments_of<ProbeArguments>(command, global, execute);
    command.optional_positional(
        "what WHAT", value::offering(value::texts(asked.words), {probe_words.begin(), probe_words.end()}),
        "topology, bandwidth, latency, faults, device or all (default all); or transfers, as in "
        "'host:pinned@node0 -> cpu -> host@node0', measured at once");
    add_cases(command, asked.probe);
    add_measuring(command, asked.probe);
    add_output(command, asked.probe);
    command.footer =
        "What this machine lacks is listed as skipped, with its reason. Exit codes: 0 done; 1 wrong data, or a limit "
        "is violated; 2 wrong usage, a filter that no case matches, or output that cannot be written; 3 the kernel "
        "refused something; 130/143 "
        "interrupted.";
    command.check = [&asked] { return check(asked); };
}

}  // namespace memsweep::app
