#include "app/commands/probing.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands/plans.hpp"
#include "app/commands/this_machine.hpp"
#include "core/base/quantity.hpp"
#include "core/device/open.hpp"
#include "core/engine/calibration.hpp"
#include "core/measure/findings.hpp"
#include "core/measure/measured_checks.hpp"
#include "core/probe/probe.hpp"
#include "core/probe/probe_case.hpp"
#include "core/probe/time_left.hpp"
#include "core/sys/machine_facts.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t unknown_memory_bytes = 1ULL << 30;
constexpr std::uint64_t streaming_trial_bytes = 64U << 20U;  // at least, for trials that take half of it

// A quarter of what there is by default; four fifths for who names a size.
std::uint64_t memory_budget(bool size_given)
{
    const std::uint64_t available = sys::available_memory();
    const std::uint64_t there = available == 0 ? unknown_memory_bytes : available;
    const std::uint64_t share = size_given ? there / 5 * 4 : there / 4;
    // Threads reserve address space for their stacks and heaps.
    const std::uint64_t most = sys::address_space_left().value_or(share * 3) / 3;
    return std::min(share, most);
}

base::Expected<std::vector<sys::NumaNode>> chosen_nodes(const std::vector<std::uint32_t>& asked,
                                                        const std::vector<sys::NumaNode>& all)
{
    if (asked.empty()) {
        return all;
    }
    std::vector<sys::NumaNode> chosen;
    for (const std::uint32_t id : std::set<std::uint32_t>{asked.begin(), asked.end()}) {
        const auto found = std::ranges::find(all, id, &sys::NumaNode::id);
        if (found == all.end()) {
            std::vector<std::uint32_t> known;
            std::ranges::transform(all, std::back_inserter(known), &sys::NumaNode::id);
            return refuse(fmt::format("this machine has no node {}; there are: {}", id, fmt::join(known, ", ")),
                          "--nodes");
        }
        chosen.push_back(*found);
    }
    return chosen;
}

// Without a device nothing is wrong with any number: what needs one is skipped.
base::Expected<std::vector<std::uint32_t>> chosen_devices(const std::vector<std::uint32_t>& asked,
                                                          const device::Runtime& runtime)
{
    const std::set<std::uint32_t> chosen{asked.begin(), asked.end()};
    if (!chosen.empty() && !runtime.devices().empty() && *chosen.rbegin() >= runtime.devices().size()) {
        return refuse(fmt::format("this machine has no device {}; there are {}, from 0 on", *chosen.rbegin(),
                                  runtime.devices().size()),
                      "--devices");
    }
    return std::vector<std::uint32_t>{chosen.begin(), chosen.end()};
}

// gpu*: each device chosen; where there is none, those that it would need are skipped with the reason.
std::vector<model::TransferSpec> spelled_out(const std::vector<model::TransferSpec>& transfers,
                                             const device::Runtime& runtime, const std::vector<std::uint32_t>& chosen)
{
    const auto is_chosen = [&](std::optional<std::uint32_t> device) {
        return chosen.empty() || runtime.devices().empty() || std::ranges::find(chosen, *device) != chosen.end();
    };
    const auto is_out = [&](const model::TransferEnd& written, const model::TransferEnd& end) {
        return written.kind == model::TransferEnd::Kind::device && !written.number && !is_chosen(end.number);
    };
    std::vector<model::TransferSpec> all;
    for (const model::TransferSpec& one : transfers) {
        const bool is_pair =
            one.src.kind == model::TransferEnd::Kind::device && one.dst.kind == model::TransferEnd::Kind::device;
        const auto devices = static_cast<std::uint32_t>(runtime.devices().size());
        std::ranges::copy_if(
            model::for_each_device(one, std::max(devices, is_pair ? 2U : 1U)), std::back_inserter(all),
            [&](const model::TransferSpec& spec) { return !is_out(one.src, spec.src) && !is_out(one.dst, spec.dst); });
    }
    return all;
}

void add(std::vector<model::CaseReport>& cases, std::vector<model::CaseReport> more)
{
    std::ranges::move(more, std::back_inserter(cases));
}

std::vector<model::CaseReport> all_cases(const ProbeCommand& command, const probe::ProbeContext& context,
                                         device::Runtime& runtime, probe::TimeLeft& left)
{
    std::vector<model::CaseReport> cases;
    const auto begins = [&](const char* part) {
        const bool is_asked = asks_for(command, part);
        if (is_asked) {
            left.begin(part);
        }
        return is_asked;
    };
    if (begins("topology")) {
        add(cases, probe::probe_topology(context));
        add(cases, probe::probe_device_facts(runtime));
    }
    std::optional<std::uint64_t> effective_cache;
    if (begins("latency")) {
        add(cases, probe::probe_latency(context));
        effective_cache = probe::effective_cache_bytes(probe::latencies_by_size(cases));
    }
    if (begins("bandwidth")) {
        // Arrays of a given size need no cache to be larger than.
        if (!effective_cache && !command.array_bytes && !context.stopped()) {
            context.progress("bandwidth: how large the caches are in effect");
            effective_cache = probe::measure_effective_cache(context);
        }
        add(cases, probe::probe_bandwidth(context, effective_cache));
        add(cases, probe::probe_numa(context, effective_cache));
    }
    if (begins("faults")) {
        add(cases, probe::probe_faults(context));
    }
    if (begins("device")) {
        add(cases, probe::probe_devices(context, runtime));
    }
    if (!command.transfers.empty()) {
        left.begin("transfers");
        const auto transfers = spelled_out(command.transfers, runtime, context.devices);
        const bool on_host = std::ranges::all_of(transfers, model::is_on_host);
        add(cases, on_host ? probe::probe_transfers(context, transfers)
                           : probe::probe_device_transfers(context, runtime, transfers));
    }
    return cases;
}

std::map<std::string, std::string> recorded_overrides(const ProbeCommand& command)
{
    std::map<std::string, std::string> recorded;
    if (command.array_bytes) {
        recorded["--size"] = base::exact_size(*command.array_bytes);
    }
    if (!command.filter.empty()) {
        recorded["--filter"] = command.filter;
    }
    if (!command.nodes.empty()) {
        recorded["--nodes"] = fmt::format("{}", fmt::join(command.nodes, ","));
    }
    if (!command.devices.empty()) {
        recorded["--devices"] = fmt::format("{}", fmt::join(command.devices, ","));
    }
    if (command.pairs) {
        recorded["--pairs"] = fmt::format("{}", *command.pairs);
    }
    if (command.ballast) {
        recorded["--ballast"] = "yes";
    }
    return recorded;
}

// Each case's own: its id says what it measures, but for the arrays' size.
void take_case_fingerprints(model::RunReport& report)
{
    const auto size = report.run.overrides.find("--size");
    const std::string arrays = size == report.run.overrides.end() ? std::string{} : size->second;
    for (model::CaseReport& one : report.cases) {
        one.fingerprint = scenarios::sha256(fmt::format("memsweep-probe-1\n{}\n{}", one.id, arrays));
    }
}

// The fingerprint covers what was measured, as a scenario's does, but neither how often nor for how long.
std::string fingerprint(const model::RunReport& report)
{
    std::string text = "memsweep-probe-1";
    for (const model::CaseReport& one : report.cases) {
        text += "\n" + one.id;
    }
    for (const auto& [name, value] : report.run.overrides) {
        text += fmt::format("\n{}={}", name, value);
    }
    return scenarios::sha256(text);
}

model::RunReport new_report(const ProbeCommand& command, const GlobalOptions& global)
{
    model::RunReport report = app::new_report(this_machine(), global.argv, command.tags);
    report.run.order = model::Order::interleaved;
    report.run.isolation = model::Isolation::none;
    report.run.scenario_name = probe_name(command);
    report.run.scenario_description = "What this machine's memory does, measured by memsweep probe.";
    report.run.overrides = recorded_overrides(command);
    return report;
}

// ", ETA 14 s"; empty where nothing is known of what is left.
std::string eta(double seconds)
{
    return seconds > 0 ? fmt::format(", ETA {}", base::format_duration(seconds)) : std::string{};
}

// Whether anything is measured whose figures other work would spoil.
bool measures(const ProbeCommand& command)
{
    const auto is_asked = [&](const char* what) { return asks_for(command, what); };
    return std::ranges::any_of(std::array{"bandwidth", "latency", "faults", "device"}, is_asked) ||
           !command.transfers.empty();
}

// Two canaries, as `memsweep doctor` has them, before anything of ours loads the machine.
void look_for_other_work(const sys::Clock& clock, model::RunReport& report)
{
    const auto checks = measure::neighbour_checks(sys::run_canary(clock, {}));
    report.calibration.canary = measure::canary_of(checks);
    if (auto warning = measure::busy_machine_warning(checks)) {
        report.warnings.push_back(*std::move(warning));
    }
}

// How long each part that was asked for usually takes; nothing where only some of their cases are measured.
std::vector<probe::Part> expected_parts(const ProbeCommand& command, const probe::ProbeContext& context,
                                        const device::Runtime& runtime)
{
    if (!command.filter.empty()) {
        return {};
    }
    std::vector<probe::Part> parts = probe::usual_parts(context, runtime);
    std::erase_if(parts, [&](const probe::Part& one) {
        return one.name == "transfers" ? command.transfers.empty() : !asks_for(command, one.name);
    });
    if (measures(command)) {
        parts.insert(parts.begin(), {"other work", 1.2});
    }
    return parts;
}

// What drawings and nodes then say of memory is said with it.
void warn_of_node_memory(const sys::Topology& topology, model::RunReport& report)
{
    if (topology.contradicted_bytes == 0) {
        return;
    }
    const std::uint64_t kernel = report.machine.memory_bytes;
    const bool is_more = kernel > topology.contradicted_bytes;
    report.warnings.push_back(
        {"node-memory",
         fmt::format("the nodes have {} by hwloc, but the kernel counts {} (MemTotal): {}",
                     base::format_size(topology.contradicted_bytes), base::format_size(kernel),
                     is_more ? "memory was plugged in after the start" : "/proc/meminfo shows a limit"),
         is_more ? (topology.nodes.size() == 1
                        ? "the kernel's figure stands for the machine and for its node"
                        : "the kernel's figure stands for the machine; which node has the rest cannot be told")
                 : "hwloc's figure stands for the machine"});
}

void add_probe_warnings(model::RunReport& report)
{
    if (auto warning = model::build_warning(report.tool)) {
        report.warnings.push_back(*std::move(warning));
    }
    for (const model::CaseReport& one : report.cases) {
        for (model::Warning& warning : measure::noise_warnings(one)) {
            const bool tells_something =
                warning.code == "noisy" || warning.code == "drift" || warning.code == "outliers";
            if (tells_something) {  // the others advise on settings of scenarios
                report.warnings.push_back(std::move(warning));
            }
        }
    }
}

}  // namespace

std::string probe_name(const ProbeCommand& command)
{
    if (command.what.empty() && !command.transfers.empty()) {
        return "probe_transfer";
    }
    return command.what.empty() ? "probe_all" : fmt::format("probe_{}", fmt::join(command.what, "_"));
}

bool asks_for(const ProbeCommand& command, std::string_view what)
{
    const auto is_asked = [&](std::string_view word) {
        return std::ranges::find(command.what, word) != command.what.end();
    };
    return (command.what.empty() && command.transfers.empty()) || is_asked("all") || is_asked(what);
}

base::Expected<model::RunReport> probe(const ProbeCommand& command, const GlobalOptions& global,
                                       const sys::Topology& topology, const sys::Clock& clock,
                                       const sys::StopSignals& signals)
{
    if (!topology.is_this_machine &&
        (!command.transfers.empty() || command.what != std::vector<std::string>{"topology"})) {
        return refuse("HWLOC_XMLFILE or HWLOC_SYNTHETIC describes another machine, of which only the topology can be "
                      "told; HWLOC_THISSYSTEM=1 says that it is this one");
    }
    const IdMatcher wants = MEMSWEEP_TRY(id_matcher(command.filter));
    const bool several = topology.nodes.size() > 1;
    auto nodes = MEMSWEEP_TRY(chosen_nodes(command.nodes, topology.nodes));
    probe::ProbeSettings settings{.array_bytes = command.array_bytes,
                                  .memory_budget_bytes = memory_budget(command.array_bytes.has_value())};
    if (command.min_time) {
        settings.sample_seconds = std::chrono::duration<double>(*command.min_time).count();
    }
    settings.samples = command.samples.value_or(settings.samples);
    settings.ballast = command.ballast;
    const bool asks_devices = asks_for(command, "device") || asks_for(command, "topology") ||
                              !std::ranges::all_of(command.transfers, model::is_on_host);
    // A driver may take the description for this machine as well: PoCL ends the process where it has no memory.
    const auto runtime = !topology.is_this_machine ? device::no_runtime("a machine that is only described has none")
                         : asks_devices            ? device::open_runtime()
                                                   : device::no_runtime("no device was asked for");
    auto devices = MEMSWEEP_TRY(chosen_devices(command.devices, *runtime));
    model::RunReport report = new_report(command, global);
    report.run.seed = settings.seed;
    bool stopped = false;
    std::optional<probe::TimeLeft> left;
    const probe::ProbeContext context{.clock = clock,
                                      .settings = settings,
                                      .nodes = std::move(nodes),
                                      .devices = std::move(devices),
                                      .pairs = command.pairs,
                                      .binds_memory = several,
                                      .topology = topology,
                                      .progress =
                                          [&](const std::string& what) {
                                              if (!global.quiet && global.progress != ProgressMode::none) {
                                                  print_note(what + eta(left->seconds()));
                                              }
                                          },
                                      .stopped = [&] { return stopped = stopped || signals.pending().has_value(); },
                                      .wants = wants};
    left.emplace(clock, expected_parts(command, context, *runtime));
    report.machine.devices = probe::device_lines(*runtime);
    if (asks_for(command, "topology")) {
        warn_of_node_memory(topology, report);
    }
    if (measures(command)) {
        context.progress("whether other work disturbs this machine");
        look_for_other_work(clock, report);
    }
    if (asks_for(command, "bandwidth") && settings.memory_budget_bytes >= streaming_trial_bytes) {
        context.progress("from which size on stores past the caches pay");
        static_cast<void>(engine::calibrate_streaming(clock, report.calibration));
    }
    report.cases = all_cases(command, context, *runtime, *left);
    std::erase_if(report.cases, [&](const model::CaseReport& one) { return !wants(one.id); });
    report.run.scenario_fingerprint = fingerprint(report);
    report.run.scenario_sha256 = report.run.scenario_fingerprint;
    take_case_fingerprints(report);
    add_probe_warnings(report);
    report.run.ended = sys::utc_now();
    report.run.interrupted = stopped;
    return report;
}

}  // namespace memsweep::app
