#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/run_session.hpp"
#include "app/commands/this_machine.hpp"
#include "core/model/allocator.hpp"
#include "core/trace/symbols/site_names.hpp"
#include "core/trace/trace_moment.hpp"
#include "reporters/formats.hpp"
#include "scenarios/reader/replay_plan.hpp"

namespace memsweep::app {
namespace {

struct ReplayCommand {
    scenarios::ReplayRequest request;
    std::chrono::nanoseconds settle{-1};  // not given
    std::string format;                   // empty: tables
    std::string out;
    std::vector<ReportTarget> reports;
    std::optional<std::uint64_t> max_memory_bytes;
    bool no_latency{};
    bool dry_run{};
};

constexpr std::array<std::pair<std::string_view, model::ReplayTouch>, 4> touches{
    {{"recorded", model::ReplayTouch::recorded},
     {"none", model::ReplayTouch::none},
     {"first-byte", model::ReplayTouch::first_byte},
     {"all", model::ReplayTouch::all}}};
constexpr std::array<std::pair<std::string_view, model::ReplaySpeed>, 2> speeds{
    {{"maximum", model::ReplaySpeed::maximum}, {"original", model::ReplaySpeed::original}}};

void add_cases(Command& command, scenarios::ReplayRequest& request)
{
    command.group = "Cases";
    command.required_option(
        "--on A,B", value::offering(value::comma_texts(request.on), value::names_in(model::allocators())),
        "With commas: glibc, jemalloc, mimalloc, tcmalloc, with settings too ('jemalloc{dirty_decay=0s}'), a library's "
        "path, null, pool:tls, pool:pow2, best_fit, "
        "tlsf, arena, pages; memory of a device: pinned, managed, device, below a pool too (pool@device), of another "
        "one (device@gpu1)");
    command.option("--release MODE,...", value::comma_texts(request.release),
                   "Release modes, with commas (memsweep list disciplines), or MODE:PROFILE; immediate (the default) "
                   "makes the recorded calls and nothing else");
    const auto add_threads = [&request](const std::string& text) {
        return value::whole_number(text, 0, 1024).map([&](std::uint64_t number) {
            request.threads.push_back(static_cast<std::uint32_t>(number));
        });
    };
    command.option("--threads N,...", value::each_of_list(add_threads),
                   "With commas: the recorded threads are dealt out to so many; 0 (the default): as recorded");
    command.option("--without SITE", value::texts(request.without, Arity::each_time),
                   "Leave out the blocks that were born at a call site, as info --by site names it: its function, "
                   "FILE:LINE or file; * and ? stand for letters (repeatable)");
    command.option("--until MOMENT", value::offering(value::text(request.until), {"end", "exit", "peak"}),
                   "Replay up to a moment: exit (default), end (of the work, if the trace was recorded with "
                   "--end-when), peak (of live bytes), a time as in 12.5s, or a number of events");
    command.option("--touch WHAT", value::choice(request.touch, touches),
                   "What is written into each block: recorded (first-byte: no trace says yet), none, first-byte (and "
                   "one of each further page), all");
    command.option("--speed SPEED", value::choice(request.speed, speeds),
                   "maximum (the default) or original: no event before its recorded time");
    command.option("--collect-every N", value::number(request.collect_every, 1, 1'000'000'000),
                   "Of release modes that collect and have no profile: allocations between two collections");
}

void add_measuring(Command& command, ReplayCommand& replay)
{
    scenarios::ReplayRequest& request = replay.request;
    command.group = "Measuring";
    command.option("-n,--repetitions N", value::number(request.repetitions, 1, 1'000'000),
                   "Measured repetitions of each case");
    command.option("--warmup N", value::number(request.warmup, 0, 1'000'000), "Rounds to run and discard first");
    command.option("--settle DURATION", value::duration(replay.settle),
                   "How long the replay is idle at its last event, with what is then live (default 12s for allocators "
                   "that give back by time, as jemalloc and mimalloc, else 1s); when all is freed what stays is "
                   "watched as long, up to 5s");
    command.flag("--no-latency", replay.no_latency, "Leave out the last replay, which times every call");
    command.option("--timeout DURATION", value::duration(request.timeout),
                   "Time allowed to one repetition (default 10m)");
    command.option("--max-memory SIZE", value::size(replay.max_memory_bytes),
                   "Refuse cases that would hold more (default 80 % of what is left)");
    command.flag("--dry-run", replay.dry_run, "Print the cases and their memory; measure nothing");
}

void add_output(Command& command, ReplayCommand& replay)
{
    command.group = "Output";
    command.format_option(replay.format, value::word(replay.format, value::names_in(reporters::formats())),
                          "Print this format (memsweep list formats) instead of tables; json is the result itself");
    command.option("-o,--out FILE", value::text(replay.out),
                   "Where to: what -f asks for, else the result (default results/replay-<UTC>.json)");
    command.option("-r,--report FMT[=FILE]", report_targets(replay.reports),
                   "Also write this format, to FILE or stdout (repeatable)");
}

// What commas within braces have parted is one name: jemalloc{dirty_decay=0s,tcache=false}.
std::vector<std::string> with_settings(const std::vector<std::string>& pieces)
{
    std::vector<std::string> names;
    bool is_open = false;
    for (const std::string& piece : pieces) {
        if (is_open) {
            names.back() += "," + piece;
        } else {
            names.push_back(piece);
        }
        is_open = names.back().find('{') != std::string::npos && !names.back().ends_with('}');
    }
    return names;
}

model::Variables settings_in_environment()
{
    model::Variables found;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos && model::sets_an_allocator(text.substr(0, equals))) {
            found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return found;
}

// What was left out of the command line.
scenarios::ReplayRequest completed(const ReplayCommand& command)
{
    scenarios::ReplayRequest request = command.request;
    request.on = with_settings(request.on);
    request.environment = settings_in_environment();
    if (command.settle >= std::chrono::nanoseconds::zero()) {
        request.settle = command.settle;
    }
    request.latency = !command.no_latency;
    if (request.release.empty()) {
        request.release = {"immediate"};
    }
    if (request.threads.empty()) {
        request.threads = {0};
    }
    return request;
}

// As `run` would be told: `-f json` is the result itself, any other format a report beside it.
RunCommand as_run(const ReplayCommand& command)
{
    RunCommand run;
    run.scenarios = {command.request.trace};
    run.reports = command.reports;
    run.overrides.repetitions = command.request.repetitions;
    run.max_memory_bytes = command.max_memory_bytes;
    run.dry_run = command.dry_run;
    run.out = command.out;
    if (command.format == "json") {
        run.out = command.out.empty() ? "-" : command.out;
    } else if (!command.format.empty()) {
        run.reports.push_back({command.format, command.out});
        run.out.clear();
    }
    return run;
}

// Before anything is measured, so that a wrong name ends the command.
base::Expected<void> find_part(scenarios::ReplayRequest& request)
{
    const trace::TraceMoment moment = MEMSWEEP_TRY(trace::parse_moment(request.until));
    const bool may_be_all = request.until == "end" || request.until == "exit";
    if (request.without.empty() && !may_be_all) {
        return {};
    }
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(request.trace));
    if (may_be_all && !trace::is_before_exit(reader, moment)) {
        request.until.clear();
    }
    if (request.without.empty()) {
        return {};
    }
    MEMSWEEP_TRY(trace::require_stacks(reader, request.trace));
    const trace::StackTable& table = reader.read_stacks();
    trace::Symbolizer symbolizer = trace::symbolizer_of(reader, table, trace::DebugFiles::of_this_machine);
    const trace::StackSites sites = trace::sites_of_stacks(table, symbolizer);
    request.left_out =
        MEMSWEEP_TRY(trace::nodes_of_sites(sites, trace::nodes_with_events(reader, sites.of.size()), request.without));
    return {};
}

base::Expected<ExitCode> execute(const ReplayCommand& command, const GlobalOptions& global)
{
    const model::Machine machine = this_machine();
    scenarios::ReplayRequest request = completed(command);
    if (request.trace != "-") {
        std::error_code ignored;
        const auto absolute = std::filesystem::absolute(request.trace, ignored);
        request.trace = ignored ? request.trace : absolute.lexically_normal().string();
    }
    MEMSWEEP_TRY(find_part(request));
    const auto plan = scenarios::replay_plan(request, surroundings(machine));
    if (!plan) {
        std::ranges::for_each(plan.error(), print_error);
        return ExitCode::bad_input;
    }
    return run_plans(as_run(command), global, machine, {*plan});
}

}  // namespace

void add_replay(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("replay", "Replay a trace on allocators, pools and release modes");
    auto& replay = arguments_of<ReplayCommand>(command, global, execute);
    command.positional("trace FILE", value::text(replay.request.trace), "A trace (.mst)");
    add_cases(command, replay.request);
    add_measuring(command, replay);
    add_output(command, replay);
    command.footer =
        "Exit codes: 0 done; 2 unreadable or a wrong name; 3 a case crashed, timed out or ran out of memory; "
        "4 nothing was measured.";
}

}  // namespace memsweep::app
