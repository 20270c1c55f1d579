#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/document_output.hpp"
#include "app/commands/results.hpp"
#include "app/commands/site_removal.hpp"
#include "app/commands/snapshot_check.hpp"
#include "app/commands/this_machine.hpp"
#include "app/commands/traces.hpp"
#include "core/model/plan.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/symbols/site_names.hpp"
#include "core/trace/trace_moment.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/wording/trace_words.hpp"
#include "scenarios/reader/replay_plan.hpp"

namespace memsweep::app {
namespace {

using reporters::WhatIfReport;

struct WhatIfCommand {
    std::string trace;
    std::vector<std::string> without;
    std::string until{"end"};
    std::string on;
    std::optional<std::uint32_t> process;
    std::string format{"text"};
    std::string out;
};

// One name of --on, as `replay` takes it.
base::Expected<model::AllocatorSpec> named_allocator(const WhatIfCommand& command)
{
    scenarios::ReplayRequest request;
    request.trace = command.trace;
    request.on = {command.on};
    request.release = {"immediate"};
    request.threads = {0};
    const auto plan = scenarios::replay_plan(request, surroundings(this_machine()));
    if (!plan) {
        return base::fail(plan.error().front());
    }
    model::AllocatorSpec spec = plan->cases.front().allocator;
    if (spec.name.empty()) {
        return base::fail(base::ErrorCode::invalid_input, "is no malloc of a library, which programs are served by",
                          command.on);
    }
    spec.library = MEMSWEEP_TRY(sys::find_allocator_library(spec.name));
    return spec;
}

std::string fact_of(const trace::Facts& facts, const char* prefix, std::uint32_t process)
{
    const auto found = facts.find(fmt::format("{}{}", prefix, process));
    return found == facts.end() ? std::string{} : found->second;
}

// Of a trace of one process, whose number may be any.
std::string only_server_of(const trace::Facts& facts)
{
    const auto found = std::ranges::find_if(
        facts, [](const auto& fact) { return std::string_view{fact.first}.starts_with(trace::server_fact); });
    return found == facts.end() ? std::string{} : found->second;
}

std::string process_name(const trace::Facts& facts, std::uint32_t process)
{
    const std::string program = fact_of(facts, trace::program_fact, process);
    return program.empty() ? fmt::format("{}", process) : fmt::format("{} ({})", process, program);
}

// The one process that calls the sites, or that the command names: of the others no event is replayed.
base::Expected<std::uint32_t> process_of_sites(const WhatIfCommand& command, const trace::StackTable& table,
                                               const trace::Facts& facts, std::vector<bool>& nodes)
{
    std::set<std::uint32_t> processes;
    for (std::uint32_t node = 1; node < nodes.size(); ++node) {
        if (nodes[node]) {
            processes.insert(table.image_of(node).process);
        }
    }
    std::vector<std::string> names;
    std::ranges::transform(processes, std::back_inserter(names),
                           [&](std::uint32_t process) { return process_name(facts, process); });
    if (!command.process && processes.size() > 1) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("is called in {} processes, each with a heap of its own: say in which one by "
                                      "--process: {}",
                                      processes.size(), reporters::inert_text(reporters::listed(names))),
                          command.without.front());
    }
    const std::uint32_t process = command.process.value_or(*processes.begin());
    if (!processes.contains(process)) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("calls none of these sites; these do: {}", reporters::inert_text(reporters::listed(names))),
            fmt::format("process {}", process));
    }
    for (std::uint32_t node = 1; node < nodes.size(); ++node) {
        nodes[node] = nodes[node] && table.image_of(node).process == process;
    }
    return process;
}

struct Asked {
    std::vector<bool> nodes;
    std::vector<std::string> sites;
    std::optional<trace::ExactCut> cut;
    std::optional<std::uint32_t> process;  // absent: the trace has only one
    std::string program;
    std::string served_by;
    std::vector<std::string> gaps;  // gaps_of() the trace
    AskedTicks moment;
    std::uint64_t most_events{};
};

base::Expected<Asked> look_at(const WhatIfCommand& command)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
    const trace::TraceMoment moment = MEMSWEEP_TRY(trace::parse_moment(command.until));
    MEMSWEEP_TRY(trace::require_stacks(reader, command.trace));
    if (!trace::sampling_of(reader.facts()).is_exact()) {
        return base::fail(base::ErrorCode::invalid_input,
                          "has the stacks of a sample, and a site is removed with all of its blocks: record it with "
                          "--stacks=full",
                          command.trace);
    }
    const trace::StackTable& table = reader.read_stacks();
    trace::Symbolizer symbolizer = trace::symbolizer_of(reader, table, trace::DebugFiles::of_this_machine);
    const trace::StackSites sites = trace::sites_of_stacks(table, symbolizer);
    Asked asked;
    asked.nodes =
        MEMSWEEP_TRY(trace::nodes_of_sites(sites, trace::nodes_with_events(reader, sites.of.size()), command.without));
    const trace::Facts& facts = reader.facts();
    const auto processes = facts.find("processes");
    if (command.process || (processes != facts.end() && processes->second != "1")) {
        asked.process = MEMSWEEP_TRY(process_of_sites(command, table, facts, asked.nodes));
        asked.program = reporters::inert_text(fact_of(facts, trace::program_fact, *asked.process));
        asked.served_by = fact_of(facts, trace::server_fact, *asked.process);
    } else {
        asked.served_by = only_server_of(facts);
    }
    std::vector<bool> is_meant(sites.places.size());
    for (std::size_t node = 1; node < asked.nodes.size(); ++node) {
        is_meant[sites.of[node]] = is_meant[sites.of[node]] || asked.nodes[node];
    }
    for (std::size_t site = 1; site < is_meant.size(); ++site) {
        if (is_meant[site]) {
            asked.sites.push_back(reporters::inert_text(trace::place_name(sites.places[site])));
        }
    }
    const auto mark = reader.end_mark();
    if (mark && std::holds_alternative<trace::TraceEnd>(moment)) {
        asked.cut = mark->cut;
    }
    asked.most_events = MEMSWEEP_TRY(trace::events_before(reader, moment, asked.process));
    asked.moment = {.is_end = std::holds_alternative<trace::TraceEnd>(moment) ||
                              (std::holds_alternative<trace::TraceExit>(moment) && !mark),
                    .ticks = trace::ticks_of(reader, moment, asked.most_events, asked.process)};
    MEMSWEEP_TRY(reader.outcome());
    asked.gaps = reporters::gaps_of(reader.facts());
    return asked;
}

// The figures need no snapshot.
std::string not_checked_since(const base::Error& error)
{
    return fmt::format("It could not be checked: {}.", reporters::inert_text(base::describe(error)));
}

base::Expected<WhatIfReport> answer(const WhatIfCommand& command, const sys::StopSignals& signals)
{
    Asked asked = MEMSWEEP_TRY(look_at(command));
    const bool is_named = !command.on.empty();
    std::vector<std::string> warnings;
    if (!is_named && asked.served_by.empty()) {
        warnings.emplace_back("The trace does not say which allocator served the program: glibc's is replayed.");
    }
    std::ranges::transform(asked.gaps, std::back_inserter(warnings), reporters::sentence_of);
    const std::string served_by = asked.served_by.empty() ? "libc.so.6" : asked.served_by;
    model::AllocatorSpec allocator =
        MEMSWEEP_TRY(is_named ? named_allocator(command) : allocator_to_replay(served_by, {}));
    WhatIfReport report{.trace = reporters::inert_text(command.trace),
                        .asked = command.without,
                        .sites = std::move(asked.sites),
                        .until = command.until,
                        .on = reporters::inert_text(is_named ? command.on : allocator.name),
                        .allocator =
                            measure::allocator_of_file(allocator.library.empty() ? "libc.so.6" : allocator.library),
                        .process = asked.process,
                        .program = std::move(asked.program),
                        .runs = SiteRemoval::runs,
                        .not_checked = is_named ? "Another allocator is replayed than the one that served it." : "",
                        .warnings = std::move(warnings)};
    std::optional<trace::Snapshot> snapshot;
    if (!is_named) {
        auto found = nearest_snapshot(command.trace, asked.process, asked.moment);
        if (found) {
            snapshot = *std::move(found);
            report.not_checked = snapshot        ? ""
                                 : asked.process ? "The trace has no snapshot of this process: they are of the one "
                                                   "that the command began with."
                                                 : "The trace has no snapshot of where its memory was: "
                                                   "`memsweep record --snapshot-at-end` takes one.";
        } else {
            report.not_checked = not_checked_since(found.error());
        }
    }
    const RemovalBasis basis{.trace = command.trace,
                             .cut = std::move(asked.cut),
                             .most_events = asked.most_events,
                             .process = asked.process,
                             .allocator = std::move(allocator)};
    RemovalBasis replayed = basis;
    const bool is_at_snapshot = snapshot && asked.moment.is_end && snapshot->at == trace::SnapshotAt::end;
    if (is_at_snapshot) {
        replayed.cut = snapshot->cut;
        replayed.process = snapshot->process;
    }
    SiteRemoval replays{std::move(replayed), signals};
    report.whole = MEMSWEEP_TRY(replays.without({}));
    if (snapshot) {
        auto check = check_with_snapshot(*snapshot, basis, asked.moment,
                                         is_at_snapshot ? std::optional{report.whole} : std::nullopt, signals);
        if (!check && check.error().code == base::ErrorCode::interrupted) {
            return base::fail(check.error());
        }
        report.checked = check ? check->checked : std::nullopt;
        report.not_checked = check ? std::move(check->why_not) : not_checked_since(check.error());
    }
    report.without = MEMSWEEP_TRY(replays.without(std::move(asked.nodes)));
    return report;
}

base::Expected<ExitCode> execute(const WhatIfCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, {command.trace}));
    const sys::StopSignals signals;
    const auto report = answer(command, signals);
    if (!report) {
        print_error(report.error());
        const base::ErrorCode code = report.error().code;
        const bool was_measured = code == base::ErrorCode::os || code == base::ErrorCode::budget;
        return signals.arrived() ? stop_code(signals) : was_measured ? ExitCode::case_failed : ExitCode::bad_input;
    }
    return write_document(*report, command.format, command.out.empty() ? "-" : command.out, global);
}

}  // namespace

void add_whatif(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("whatif", "Say what a program would hold without some of its call sites");
    auto& whatif = arguments_of<WhatIfCommand>(command, global, execute);
    command.positional("trace FILE", value::text(whatif.trace), "A trace (.mst) with stacks (record --stacks)");
    command.required_option(
        "--without SITE", value::texts(whatif.without, Arity::each_time),
        "A call site as info --by site names it: a function, FILE:LINE or a file; * and ? are wildcards (repeatable)");
    command.option("--until MOMENT", value::offering(value::text(whatif.until), {"end", "exit", "peak"}),
                   "The moment to answer for: end (of the work, if recorded with --end-when), exit, peak (of live "
                   "bytes), a time as in 12.5s, or a number of events");
    command.option("--process N", value::number(whatif.process, 0, UINT32_MAX),
                   "The process to replay, if the trace has several; default: the only one that calls the sites");
    command.option("--on ALLOCATOR", value::offering(value::text(whatif.on), value::names_in(model::allocators())),
                   "The allocator to replay on, possibly with settings ('jemalloc{dirty_decay=0s}'); default: the "
                   "recorded program's");
    command.format_option(whatif.format, value::word(whatif.format, {"text", "json", "md", "html"}),
                          "text, json, md or html");
    command.option("-o,--out FILE", value::text(whatif.out), "Where to write (default stdout)");
    command.footer = "The trace is replayed three times with and three times without the blocks that the sites "
                     "allocated. Before the remaining blocks are freed, the allocator is asked to return memory. Exit "
                     "codes: 0 done; 2 unreadable, without "
                     "stacks, or no such site; 3 a replay crashed, timed out or ran out of memory.";
}

}  // namespace memsweep::app
