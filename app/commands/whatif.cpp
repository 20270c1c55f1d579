#include <algorithm>
#include <optional>
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
#include "app/commands/this_machine.hpp"
#include "app/commands/traces.hpp"
#include "core/model/plan.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/symbols/site_names.hpp"
#include "core/trace/trace_moment.hpp"
#include "reporters/text/escaping.hpp"
#include "scenarios/reader/replay_plan.hpp"

namespace memsweep::app {
namespace {

using reporters::WhatIfReport;

struct WhatIfCommand {
    std::string trace;
    std::vector<std::string> without;
    std::string until{"end"};
    std::string on;
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

// Of the trace's first process that says so.
std::string server_of(const trace::Facts& facts)
{
    const auto found = std::ranges::find_if(
        facts, [](const auto& fact) { return std::string_view{fact.first}.starts_with(trace::server_fact); });
    return found == facts.end() ? std::string{} : found->second;
}

struct Asked {
    std::vector<bool> nodes;
    std::vector<std::string> sites;
    std::uint64_t most_events{};
    std::optional<trace::ExactCut> cut;
    std::string served_by;
    std::vector<std::string> warnings;
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
    Asked asked{.nodes = MEMSWEEP_TRY(
                    trace::nodes_of_sites(sites, trace::nodes_with_events(reader, sites.of.size()), command.without)),
                .sites = {},
                .most_events = 0,
                .cut = {},
                .served_by = server_of(reader.facts()),
                .warnings = {}};
    const trace::Facts& facts = reader.facts();
    if (const auto processes = facts.find("processes"); processes != facts.end() && processes->second != "1") {
        asked.warnings.push_back(fmt::format("The recording has {} processes, whose blocks are replayed in one heap.",
                                             reporters::inert_text(processes->second)));
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
    if (const auto mark = std::holds_alternative<trace::TraceEnd>(moment) ? reader.end_mark() : std::nullopt) {
        asked.cut = mark->cut;
    }
    asked.most_events = MEMSWEEP_TRY(trace::events_before(reader, moment));
    MEMSWEEP_TRY(reader.outcome());
    return asked;
}

base::Expected<WhatIfReport> answer(const WhatIfCommand& command, const sys::StopSignals& signals)
{
    Asked asked = MEMSWEEP_TRY(look_at(command));
    const bool is_named = !command.on.empty();
    if (!is_named && asked.served_by.empty()) {
        asked.warnings.emplace_back("The trace does not say which allocator served the program: glibc's is replayed.");
    }
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
                        .runs = SiteRemoval::runs,
                        .warnings = std::move(asked.warnings)};
    SiteRemoval replays{{.trace = command.trace,
                         .cut = std::move(asked.cut),
                         .most_events = asked.most_events,
                         .process = {},
                         .allocator = std::move(allocator)},
                        signals};
    const engine::HeapAtEnd whole = MEMSWEEP_TRY(replays.without({}));
    const engine::HeapAtEnd rest = MEMSWEEP_TRY(replays.without(std::move(asked.nodes)));
    report.whole = {whole.held, whole.given_back};
    report.without = {rest.held, rest.given_back};
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
    Command& command = root.command("whatif", "What a program would hold without some of its call sites");
    auto& whatif = arguments_of<WhatIfCommand>(command, global, execute);
    command.positional("trace FILE", value::text(whatif.trace), "A trace (.mst) with stacks (record --stacks)");
    command.required_option("--without SITE", value::texts(whatif.without, Arity::each_time),
                            "A call site, as info --by site names it: its function, FILE:LINE or file; * and ? stand "
                            "for letters (repeatable)");
    command.option("--until MOMENT", value::offering(value::text(whatif.until), {"end", "exit", "peak"}),
                   "When: end (default; of the work, if the trace was recorded with --end-when), exit, peak (of live "
                   "bytes), a time as in 12.5s, or a number of events");
    command.option("--on ALLOCATOR", value::offering(value::text(whatif.on), value::names_in(model::allocators())),
                   "The allocator to replay on, with settings too ('jemalloc{dirty_decay=0s}'); default: that of the "
                   "recording");
    command.format_option(whatif.format, value::word(whatif.format, {"text", "json", "md", "html"}),
                          "text, json, md or html");
    command.option("-o,--out FILE", value::text(whatif.out), "Where to write (default stdout)");
    command.footer =
        "The trace is replayed with and without the blocks that were born at the sites, three times each, and the "
        "allocator is asked to give back before anything else is freed. Exit codes: 0 done; 2 unreadable, without "
        "stacks, or no such site; 3 a replay crashed, timed out or ran out of memory.";
}

}  // namespace memsweep::app
