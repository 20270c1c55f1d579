#include "app/commands/leaks.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/commands/program_input.hpp"
#include "app/commands/recorder.hpp"
#include "app/commands/results.hpp"
#include "app/commands/stack_recordings.hpp"
#include "app/commands/this_machine.hpp"
#include "app/commands/traces.hpp"
#include "core/engine/command/command_executor.hpp"
#include "core/engine/command/supervision.hpp"
#include "core/measure/leak_growth.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "reporters/document/call_sites.hpp"
#include "reporters/document/leaks.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/text/escaping.hpp"
#include "scenarios/reader/axes.hpp"
#include "scenarios/reader/command_plans.hpp"

namespace memsweep::app {
namespace {

using reporters::LeakSite;
using reporters::LeaksReport;

constexpr std::uint32_t first_rounds = 2;
constexpr std::uint32_t rounds_of_noise = 5;  // where what grows varies from run to run

struct Operations {
    std::string variable;
    std::vector<std::uint64_t> numbers;  // in order
};

base::Expected<Operations> read_operations(const std::string& text)
{
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
        return refuse("takes NAME=VALUES, numbers of operations as in 'n=[10,20,40]'", "--leaks");
    }
    Operations operations{.variable = text.substr(0, equals), .numbers = {}};
    for (const model::Scalar& value : MEMSWEEP_TRY(scenarios::parse_axis_values(text.substr(equals + 1)))) {
        const auto* const number = std::get_if<std::int64_t>(&value);
        if (number == nullptr || *number < 0) {
            return refuse("takes whole numbers of operations, as in 'n=[10,20,40]'", "--leaks");
        }
        operations.numbers.push_back(static_cast<std::uint64_t>(*number));
    }
    std::ranges::sort(operations.numbers);
    if (operations.numbers.size() < 2 || std::ranges::adjacent_find(operations.numbers) != operations.numbers.end()) {
        return refuse("takes at least two different numbers of operations; three tell growth from a step", "--leaks");
    }
    return operations;
}

// "${n}" in a word.
std::string marker_of(const Operations& operations)
{
    return fmt::format("${{{}}}", operations.variable);
}

std::vector<std::string> words_for(const std::vector<std::string>& words, const std::string& marker,
                                   std::uint64_t number)
{
    std::vector<std::string> changed = words;
    for (std::string& word : changed) {
        for (std::size_t at = word.find(marker); at != std::string::npos; at = word.find(marker, at)) {
            word.replace(at, marker.size(), std::to_string(number));
        }
    }
    return changed;
}

struct Held {
    std::uint64_t end_bytes{}, end_blocks{}, peak_bytes{}, peak_blocks{};

    void add(const trace::AllocationFigures& more)
    {
        end_bytes += more.end_bytes;
        end_blocks += more.end_blocks;
        peak_bytes += more.peak_bytes;
        peak_blocks += more.peak_blocks;
    }
    void raise_to(const Held& other)
    {
        end_bytes = std::max(end_bytes, other.end_bytes);
        end_blocks = std::max(end_blocks, other.end_blocks);
        peak_bytes = std::max(peak_bytes, other.peak_bytes);
        peak_blocks = std::max(peak_blocks, other.peak_blocks);
    }
};

struct HeldAtSite : Held {
    std::vector<std::string> stack;
};

// What one recorded run has live, by site; of the whole under an empty name. Of several processes it is the most that
// any one has: what a process holds at its end is gone with it, however many there are.
struct RecordedRun {
    std::uint64_t operations{};
    std::map<std::string, HeldAtSite> held;
    std::uint64_t mapped_bytes{};  // by calls of the program's own, the most at a time
};

class LeakRuns {
  public:
    // `variable`: what stands for the number of operations.
    LeakRuns(std::string library, std::string variable, const sys::StopSignals& signals)
        : recordings_{std::move(library), signals}, variable_{std::move(variable)}
    {
    }

    // Runs the program once, recorded.
    base::Expected<void> add(std::uint64_t operations, const model::CommandSpec& command,
                             std::chrono::nanoseconds timeout)
    {
        return recordings_.run(
            {.command = command,
             .allocator = {},
             .output = command.output,
             .timeout = timeout,
             .name = fmt::format("{}={}", variable_, operations)},
            [&](trace::TraceReader& reader, const std::string& name) { return count(operations, reader, name); });
    }

    [[nodiscard]] const std::vector<RecordedRun>& runs() const noexcept { return runs_; }
    [[nodiscard]] const std::set<std::string>& notes() const noexcept { return notes_; }

  private:
    base::Expected<void> count(std::uint64_t operations, trace::TraceReader& reader, const std::string& path)
    {
        const auto sites = MEMSWEEP_TRY(trace::CallSites::of(
            reader, {.by = trace::SiteKind::site, .order = trace::SiteOrder::end, .by_process = true}, path));
        RecordedRun run{.operations = operations, .held = {}};
        std::map<std::uint32_t, Held> by_process;
        std::map<std::pair<std::string, std::uint32_t>, Held> by_place;
        for (const trace::CallSite& site : sites.sites()) {
            const std::string place = reporters::inert_text(reporters::site_label(site, trace::SiteKind::site));
            by_process[site.thread.process].add(site.figures);
            by_place[{place, site.thread.process}].add(site.figures);
            std::vector<std::string>& stack = run.held[place].stack;
            if (stack.empty() && site.stack != 0) {
                for (const trace::ResolvedFrame& frame : sites.stack_of(site)) {
                    stack.push_back(reporters::inert_text(reporters::place_label(frame)));
                }
            }
        }
        for (const auto& [process, held] : by_process) {
            run.held[""].raise_to(held);
        }
        for (const auto& [key, held] : by_place) {
            run.held[key.first].raise_to(held);
        }
        notes_.insert(sites.notes().begin(), sites.notes().end());
        reader.rewind();
        run.mapped_bytes = trace::summarize(reader).totals.peak_mapped_bytes;
        MEMSWEEP_TRY(reader.outcome());
        runs_.push_back(std::move(run));
        return {};
    }

    StackRecordings recordings_;
    std::string variable_;
    std::vector<RecordedRun> runs_;
    std::set<std::string> notes_;
};

LeakSite site_of(const std::vector<RecordedRun>& runs, const std::string& place, bool at_peak)
{
    LeakSite site{.place = place, .stack = {}, .growth = {}, .held = {}};
    for (const RecordedRun& run : runs) {
        const auto found = run.held.find(place);
        const HeldAtSite held = found == run.held.end() ? HeldAtSite{} : found->second;
        site.held.push_back(
            {run.operations, at_peak ? held.peak_bytes : held.end_bytes, at_peak ? held.peak_blocks : held.end_blocks});
        site.stack = held.stack.empty() ? site.stack : held.stack;
    }
    site.growth = measure::growth_of(site.held);
    return site;
}

std::vector<LeakSite> growing_sites(const std::vector<RecordedRun>& runs, bool at_peak)
{
    std::set<std::string> places;
    for (const RecordedRun& run : runs) {
        for (const auto& [place, held] : run.held) {
            places.insert(place);
        }
    }
    places.erase("");
    std::vector<LeakSite> growing;
    for (const std::string& place : places) {
        LeakSite site = site_of(runs, place, at_peak);
        if (site.growth.growth != measure::Growth::none) {
            growing.push_back(std::move(site));
        }
    }
    std::ranges::stable_sort(growing, std::ranges::greater{}, [](const LeakSite& one) { return one.growth.bytes; });
    return growing;
}

// Only what is held for exactly so much an operation: everything else has a peak that grows with the work.
std::vector<LeakSite> freed_at_end(const std::vector<RecordedRun>& runs)
{
    std::vector<LeakSite> sites = growing_sites(runs, true);
    std::erase_if(sites, [&](const LeakSite& site) {
        return !site.growth.is_exact || site.growth.growth != measure::Growth::steady ||
               site_of(runs, site.place, false).growth.growth != measure::Growth::none;
    });
    return sites;
}

LeakSite mapped_by(const std::vector<RecordedRun>& runs)
{
    LeakSite mapped;
    for (const RecordedRun& run : runs) {
        mapped.held.push_back({run.operations, run.mapped_bytes, 0});
    }
    mapped.growth = measure::growth_of(mapped.held);
    return mapped;
}

LeaksReport report_of(const RunCommand& command, const Operations& operations, const LeakRuns& runs,
                      std::uint32_t rounds)
{
    const bool at_peak = command.release_after.has_value();
    LeaksReport report{.command = reporters::command_line(command.words),
                       .variable = reporters::inert_text(operations.variable),
                       .operations = operations.numbers,
                       .rounds = rounds,
                       .at_peak = at_peak,
                       .whole = site_of(runs.runs(), "", at_peak),
                       .sites = growing_sites(runs.runs(), at_peak),
                       .freed_at_end = at_peak ? std::vector<LeakSite>{} : freed_at_end(runs.runs()),
                       .mapped = mapped_by(runs.runs()),
                       .notes = {}};
    for (const std::string& note : runs.notes()) {
        report.notes.push_back(reporters::inert_text(note));
    }
    return report;
}

// Whether more runs can tell growth from noise.
bool is_noisy(const LeaksReport& report)
{
    const auto is_noise = [](const LeakSite& site) {
        return site.growth.growth != measure::Growth::none && site.growth.varies;
    };
    return is_noise(report.whole) || std::ranges::any_of(report.sites, is_noise);
}

ExitCode write_all(const RunCommand& command, const LeaksReport& report, const GlobalOptions& global)
{
    ExitCode code = ExitCode::done;
    const bool speaks = std::ranges::none_of(command.reports, is_stdout, &ReportTarget::path) && command.out != "-";
    if (speaks && !global.quiet) {
        code = write_text(reporters::to_terminal(report, terminal_style(global)), "-");
    }
    if (!command.out.empty()) {
        code = worse(code, write_text(reporters::to_json(report), command.out));
    }
    for (const ReportTarget& target : command.reports) {
        const auto format = reporters::find_format<LeaksReport>(target.format);
        if (!format) {
            print_error(format.error());
            code = worse(code, ExitCode::bad_input);
        } else {
            code = worse(code, write_in(*format, report, target.path, global));
        }
    }
    return code;
}

ExitCode code_of(const LeaksReport& report)
{
    switch (reporters::verdict_of(report)) {
    case reporters::LeakVerdict::leak:
        return ExitCode::finding;
    case reporters::LeakVerdict::unsure:
        return ExitCode::no_verdict;
    case reporters::LeakVerdict::none:
        break;
    }
    return ExitCode::done;
}

}  // namespace

base::Expected<void> check_leaks(const RunCommand& command)
{
    if (command.leaks.empty()) {
        return command.release_after ? refuse("goes with --leaks", "--release-after") : base::Expected<void>{};
    }
    if (command.words.empty()) {
        return refuse("goes with a program behind --", "--leaks");
    }
    const std::array<std::pair<bool, const char*>, 12> others{{{!command.against.empty(), "--against"},
                                                               {!command.baseline.empty(), "--baseline"},
                                                               {!command.gate.empty(), "--gate"},
                                                               {command.strict_counters, "--strict-counters"},
                                                               {command.resume, "--resume"},
                                                               {command.count, "--count"},
                                                               {command.duet, "--duet"},
                                                               {!command.overrides.axes.empty(), "--axis"},
                                                               {command.is_automatic, "-n auto"},
                                                               {command.dry_run, "--dry-run"},
                                                               {!command.events.empty(), "--events"},
                                                               {command.quick, "--quick"}}};
    for (const auto& [is_given, name] : others) {
        if (is_given) {
            return refuse("records the program to see what it holds, and measures nothing: it does not go with --leaks",
                          name);
        }
    }
    const Operations operations = MEMSWEEP_TRY(read_operations(command.leaks));
    const std::string marker = marker_of(operations);
    if (std::ranges::none_of(command.words, [&](const auto& word) { return word.find(marker) != std::string::npos; })) {
        return refuse(fmt::format("no word of the program has {0}: it must be told how many operations to do, as in "
                                  "`./test '{0}'`",
                                  marker),
                      "--leaks");
    }
    if (command.release_after && operations.numbers[1] > *command.release_after) {
        return refuse("needs two numbers of operations up to it: beyond it the program may have freed",
                      "--release-after");
    }
    for (const ReportTarget& target : command.reports) {
        MEMSWEEP_TRY(reporters::find_format<LeaksReport>(target.format));
    }
    return {};
}

base::Expected<ExitCode> look_for_leaks(const RunCommand& command, const GlobalOptions& global,
                                        const model::Machine& machine)
{
    Operations operations = MEMSWEEP_TRY(read_operations(command.leaks));
    if (command.release_after) {
        std::erase_if(operations.numbers, [&](std::uint64_t number) { return number > *command.release_after; });
    }
    const std::string library = MEMSWEEP_TRY(recorder_library());
    const auto input = MEMSWEEP_TRY(ProgramInput::take(command.stdin_file));
    std::map<std::uint64_t, model::Plan> plans;
    for (const std::uint64_t number : operations.numbers) {
        auto plan = scenarios::command_plan(words_for(command.words, marker_of(operations), number), {},
                                            command.overrides, surroundings(machine), command.shell);
        if (!plan) {
            print_places(plan.error());
            return ExitCode::bad_input;
        }
        model::CommandSpec& spec = *plan->cases.front().command();
        spec.output = command.stdout_word.empty() ? spec.output : command.stdout_word;
        spec.input = input.path();
        if (const std::string why = engine::missing_program(spec); !why.empty()) {
            return base::fail(base::ErrorCode::invalid_input, why);
        }
        MEMSWEEP_TRY(sys::can_be_preloaded(engine::executed(spec.run, spec.shell)));
        plans.emplace(number, *std::move(plan));
    }
    const sys::StopSignals signals;
    LeakRuns runs{library, operations.variable, signals};
    const std::uint32_t wanted = command.overrides.repetitions.value_or(first_rounds);
    std::uint32_t rounds = 0;
    std::optional<LeaksReport> report;
    while (rounds < wanted || (rounds < rounds_of_noise && !command.overrides.repetitions && is_noisy(*report))) {
        for (auto& [number, plan] : plans) {
            const auto added = runs.add(number, *plan.cases.front().command(), plan.settings.timeout);
            if (signals.arrived()) {
                return stop_code(signals);
            }
            if (!added) {
                return base::fail(added.error());
            }
        }
        report = report_of(command, operations, runs, ++rounds);
    }
    return worse(write_all(command, *report, global), code_of(*report));
}

}  // namespace memsweep::app
