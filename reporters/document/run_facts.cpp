#include "core/model/metric_id.hpp"
#include "reporters/document/run_document.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/measure/recorded_comparison.hpp"
#include "core/measure/replay_verdict.hpp"
#include "reporters/document/limit_room.hpp"
#include "reporters/document/run_tables.hpp"
#include "reporters/wording/replay_words.hpp"

namespace memsweep::reporters {
namespace {

std::string known(const std::string& text)
{
    return text.empty() ? "unknown" : text;
}

std::string size(std::uint64_t bytes)
{
    return base::format_size(static_cast<double>(bytes));
}

std::string pairs(const std::map<std::string, std::string>& map)
{
    std::vector<std::string> texts;
    for (const auto& [key, value] : map) {
        texts.push_back(fmt::format("{}={}", key, value));
    }
    return listed(texts);
}

std::string cgroup_limit(const model::Machine& machine)
{
    const std::string version =
        machine.cgroup_version.empty() ? "" : fmt::format(" (cgroup {})", machine.cgroup_version);
    return (machine.cgroup_memory_max ? size(*machine.cgroup_memory_max) : "none") + version;
}

std::string tool_text(const model::ToolInfo& tool)
{
    const std::string sanitizer = tool.sanitizer.empty() ? "" : fmt::format(", {} sanitizer", tool.sanitizer);
    return fmt::format("{} {} ({}), {} build by {}{}", tool.name, tool.version, tool.commit, tool.build_type,
                       tool.compiler, sanitizer);
}

void add_if_there(std::vector<Fact>& facts, std::string_view name, const std::string& text)
{
    if (!text.empty()) {
        facts.push_back({std::string{name}, text});
    }
}

// "Both cases", "All 3 cases".
std::string all_of(std::uint64_t count, std::string_view nouns)
{
    return count == 2 ? fmt::format("Both {}", nouns) : fmt::format("All {} {}", count, nouns);
}

// "3 of 4 cases ok; 1 skipped."
std::string cases_sentence(const model::StatusCounts& counts)
{
    if (counts.cases == 0) {
        return "No case was measured.";
    }
    if (counts.ok == counts.cases) {
        return counts.cases == 1 ? "The case was measured." : all_of(counts.cases, "cases") + " were measured.";
    }
    std::vector<std::string> rest;
    const auto add = [&](std::uint64_t count, std::string_view what) {
        if (count > 0) {
            rest.push_back(fmt::format("{} {}", count, what));
        }
    };
    add(counts.skipped, "skipped");
    add(counts.failed, "failed");
    add(counts.errors, "ended in an error");
    add(counts.timeouts, "timed out");
    return fmt::format("{} of {} ok; {}.", counts.ok, plural(counts.cases, "case"), listed(rest));
}

// What the scenario asserts, or what a limits file asks; empty where there is none of it.
std::string claims_sentence(const model::RunReport& report, bool limits)
{
    model::RunReport of_kind;
    std::ranges::copy_if(report.assertions, std::back_inserter(of_kind.assertions),
                         [limits](const model::AssertionResult& one) { return one.is_limit == limits; });
    const std::uint64_t all = of_kind.assertions.size();
    if (all == 0) {
        return {};
    }
    const std::string_view noun = limits ? "limit" : "assertion";
    const model::StatusCounts counts = model::count(of_kind);
    const std::uint64_t unknown = counts.assertions_not_evaluated;
    const model::AssertionResult* const nearest = limits ? nearest_limit(report) : nullptr;
    const std::string room = nearest == nullptr
                                 ? std::string{}
                                 : fmt::format("; of those that hold the nearest is {} away ({}{}{})",
                                               measure::format_percent(*room_left(*nearest)), nearest->expression,
                                               nearest->case_id.empty() ? "" : " of ", nearest->case_id);
    const std::string rest = room + (unknown == 0 ? "." : fmt::format("; {} could not be evaluated.", unknown));
    if (counts.assertions_failed > 0 || counts.assertions_warned > 0) {
        std::string text =
            fmt::format("{} of {} {}", counts.assertions_failed, plural(all, noun), limits ? "violated" : "failed");
        text += counts.assertions_warned > 0 ? fmt::format(", {} warned", counts.assertions_warned) : std::string{};
        return text + rest;
    }
    if (unknown > 0) {
        return fmt::format("{} of {} hold{}", all - unknown, plural(all, noun), rest);
    }
    return all == 1 ? fmt::format("The {} holds{}", noun, rest)
                    : all_of(all, fmt::format("{}s", noun)) + " hold" + rest;
}

std::string assertions_sentence(const model::RunReport& report)
{
    const std::string assertions = claims_sentence(report, false);
    const std::string limits = claims_sentence(report, true);
    return assertions.empty() && limits.empty()
               ? std::string{"Nothing was asserted."}
               : fmt::format("{}{}{}", assertions, assertions.empty() || limits.empty() ? "" : " ", limits);
}

Tone run_tone(const model::RunReport& report, const model::StatusCounts& counts)
{
    if (counts.assertions_failed + counts.failed + counts.errors + counts.timeouts > 0) {
        return Tone::bad;
    }
    const bool doubtful = report.run.interrupted ||
                          counts.assertions_warned + counts.assertions_not_evaluated + counts.skipped > 0 ||
                          counts.ok == 0;
    return doubtful ? Tone::caution : Tone::good;
}

}  // namespace

std::vector<Fact> run_facts(const model::RunReport& report)
{
    const model::RunInfo& run = report.run;
    std::vector<Fact> facts;
    facts.push_back({"Command", command_line(run.argv)});
    facts.push_back({"Scenario", run.scenario_path.empty() ? run.scenario_name : run.scenario_path});
    facts.push_back({"Started", known(run.started)});
    facts.push_back({"Ended", run.ended.empty() ? "not yet" : run.ended});
    facts.push_back({"Exit code", fmt::format("{}", run.exit_code)});
    facts.push_back({"Order", fmt::format("{}, seed {}", model::name_of(run.order), run.seed)});
    add_if_there(facts, "Duet", duet_line(run.duet_processors));
    facts.push_back({"Isolation", std::string{model::name_of(run.isolation)}});
    std::map<std::string, std::string> overrides = run.overrides;
    std::erase_if(overrides, [](const auto& one) { return one.first.starts_with(measure::judged_prefix); });
    add_if_there(facts, "Overrides", pairs(overrides));
    add_if_there(facts, "Tags", pairs(run.tags));
    facts.push_back({"Tool", tool_text(report.tool)});
    add_if_there(facts, "Harness", harness_line(report.calibration));
    add_if_there(facts, "Streaming stores", streaming_line(report.calibration));
    facts.push_back({"Run", run.id});
    facts.push_back({"Scenario fingerprint", run.scenario_fingerprint});
    return facts;
}

std::vector<Fact> machine_facts(const model::Machine& machine)
{
    return {{"Host", known(machine.host)},
            {"Processor", fmt::format("{}, {}, {}", known(machine.cpu), plural(machine.cores, "core"),
                                      plural(machine.numa_nodes, "NUMA node"))},
            {"Kernel", known(machine.kernel)},
            {"Memory", fmt::format("{}, swap {}", size(machine.memory_bytes), size(machine.swap_bytes))},
            {"Memory limit", cgroup_limit(machine)},
            {"Pages", fmt::format("{}, transparent huge pages: {}", size(machine.page_size), known(machine.thp))},
            {"Overcommit", known(machine.overcommit)},
            {"Governor", known(machine.governor)},
            {"Address randomisation", known(machine.aslr)},
            {"Virtualisation", known(machine.virtualisation)},
            {"DAMON", known(machine.damon)},
            {"Devices", machine.devices.empty() ? "none" : listed(machine.devices)},
            {"Machine fingerprint", machine.fingerprint}};
}

std::string duet_line(const std::vector<std::uint32_t>& processors)
{
    std::vector<std::string> names;
    std::ranges::transform(processors, std::back_inserter(names), [](std::uint32_t id) { return fmt::to_string(id); });
    return names.empty()
               ? ""
               : fmt::format("both programs of a round ran at the same time, each on one of the processors {}, "
                             "drawn anew for each round",
                             listed(names, " and "));
}

std::string streaming_line(const model::Calibration& calibration)
{
    const auto from = [](const std::optional<std::uint64_t>& bytes) { return bytes ? size(*bytes) : "no size tried"; };
    const bool is_known = calibration.streaming_from_bytes || calibration.streaming_pieces_from_bytes;
    return is_known ? fmt::format("by concatenations that read and write {} or more; in pieces, {}",
                                  from(calibration.streaming_from_bytes), from(calibration.streaming_pieces_from_bytes))
                    : "";
}

std::string harness_line(const model::Calibration& calibration)
{
    if (calibration.harness_seconds_per_run && calibration.harness_seconds_beside_run) {
        return fmt::format("{} of each run's time, and {} beside it (measured: a program that does nothing)",
                           base::format_duration(*calibration.harness_seconds_per_run),
                           base::format_duration(*calibration.harness_seconds_beside_run));
    }
    if (!calibration.harness_seconds_per_op) {
        return "";
    }
    const std::string clock =
        calibration.clock_read_seconds
            ? fmt::format(", a clock reading {}", base::format_duration(*calibration.clock_read_seconds))
            : "";
    const std::string uncounted =
        calibration.harness_seconds_per_op_uncounted
            ? fmt::format(" ({} without accounting)",
                          base::format_duration(*calibration.harness_seconds_per_op_uncounted))
            : "";
    return fmt::format("an allocate and drop of 64 B costs {} beyond malloc and free{}{}",
                       base::format_duration(*calibration.harness_seconds_per_op), uncounted, clock);
}

std::string machine_line(const model::Machine& machine)
{
    return fmt::format("{}: {}, {}, {} of memory, THP {}, kernel {}", known(machine.host), known(machine.cpu),
                       plural(machine.cores, "core"), size(machine.memory_bytes), known(machine.thp),
                       known(machine.kernel));
}

namespace {

// What `memsweep watch` of 0.1 called the pressure of a result's only case.
constexpr std::string_view stalls_in_0_1 = "memory_stall_time";

const model::Metric* stalls_of(const model::CaseReport& watched)
{
    const model::Metric* const pressure = model::find_metric(watched, model::metrics::pressure);
    return pressure != nullptr ? pressure : model::find_metric(watched, stalls_in_0_1);
}

// What a program did that `memsweep watch` has looked at.
std::string watch_sentence(const model::RunReport& report)
{
    const model::CaseReport& watched = report.cases.front();
    const auto figure = [&](std::string_view name) {
        const model::Metric* const metric = model::find_metric(watched, name);
        const auto value = metric == nullptr || metric->values.empty() ? std::nullopt : metric->values.front();
        return value ? value_text(*value, metric->unit) : std::string{"an unknown number of"};
    };
    const model::Metric* const stall = stalls_of(watched);
    const bool has_stall = stall != nullptr && !stall->values.empty() && stall->values.front();
    return fmt::format(
        "Exit code {} after {}: {} resident at the peak, {} minor and {} major faults{}.", report.run.exit_code,
        figure(model::metrics::wall_time), figure(model::metrics::working_set_peak),
        figure(model::metrics::minor_faults), figure(model::metrics::major_faults),
        has_stall ? fmt::format(", {} of memory stalls on this machine", figure(stall->name)) : std::string{});
}

bool is_watched(const model::RunReport& report)
{
    return report.cases.size() == 1 && report.run.scenario_name == "watch" &&
           stalls_of(report.cases.front()) != nullptr;
}

}  // namespace

Opening run_opening(const model::RunReport& report)
{
    const model::StatusCounts counts = model::count(report);
    const std::vector<measure::ReplayVerdict> replays = measure::replay_verdicts(report.cases);
    Opening opening{.headline = {report.run.interrupted ? "The run did not finish: these results are partial. " : "",
                                 run_tone(report, counts)},
                    .findings = statements(measure::findings(report))};
    std::string& text = opening.headline.text;
    if (is_watched(report)) {
        text += watch_sentence(report);
        return opening;
    }
    text += cases_sentence(counts);
    const auto verdict = replays.size() == 1
                             ? std::ranges::find(opening.findings, verdict_text(replays.front()), &Statement::text)
                             : opening.findings.end();
    if (verdict != opening.findings.end()) {
        text.back() = ';';
        text += fmt::format(" {}.", verdict->text);
        opening.findings.erase(verdict);
    }
    if (!report.assertions.empty() || (replays.empty() && !are_figures(cases_of(report)))) {
        text += " " + assertions_sentence(report);
    }
    return opening;
}

std::vector<WarningGroup> warning_groups(const model::RunReport& report)
{
    std::vector<WarningGroup> groups;
    for (const model::Warning& warning : report.warnings) {
        auto group = std::ranges::find_if(
            groups, [&](const WarningGroup& one) { return one.code == warning.code && one.hint == warning.hint; });
        if (group == groups.end()) {
            groups.push_back({warning.code, warning.hint, {}});
            group = std::prev(groups.end());
        }
        group->warnings.push_back(&warning);
    }
    return groups;
}

}  // namespace memsweep::reporters
