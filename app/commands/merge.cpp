#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "core/base/expected.hpp"
#include "core/base/host_list.hpp"
#include "core/measure/fleet.hpp"
#include "core/measure/merge.hpp"
#include "core/model/report.hpp"
#include "core/sys/file_text.hpp"
#include "reporters/json/fleet_json.hpp"
#include "reporters/json/result_json.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::app {
namespace {

// Called with each result, in the order of their paths; an error ends the reading.
using TakeResult =
    std::function<base::Expected<void>(const std::string& path, base::Expected<model::RunReport> result)>;
// Tags of hosts by name, from a table whose first line names its columns: "host,rack,switch".
using HostTags = std::map<std::string, std::map<std::string, std::string>>;

constexpr std::uint64_t largest_table_bytes = 64ULL << 20;
constexpr std::size_t most_table_columns = 256;
constexpr std::size_t most_tags = 1'000'000;  // over all hosts: each tag takes some 130 bytes
constexpr std::size_t results_per_processor = 16;

// One more than a table may have, at most.
std::vector<std::string> fields_of(std::string_view line)
{
    std::vector<std::string> fields;
    while (true) {
        const std::size_t comma = std::min(line.find(','), line.size());
        fields.emplace_back(sys::trimmed(line.substr(0, comma)));
        if (comma == line.size() || fields.size() > most_table_columns) {
            return fields;
        }
        line.remove_prefix(comma + 1);
    }
}

// Reads results on all processors and passes them on; a few per processor are in memory at a time.
base::Expected<void> read_results(const std::vector<std::string>& paths, const TakeResult& take)
{
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t batch = processors * results_per_processor;
    for (std::size_t first = 0; first < paths.size(); first += batch) {
        const std::size_t count = std::min(batch, paths.size() - first);
        std::vector<std::optional<base::Expected<model::RunReport>>> results(count);
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (std::size_t i = next++; i < count; i = next++) {
                results[i] = read_result(paths[first + i]);
            }
        };
        {
            std::vector<std::jthread> helpers;
            for (std::size_t i = 1; i < std::min(processors, count); ++i) {
                helpers.emplace_back(work);
            }
            work();
        }
        for (std::size_t i = 0; i < count; ++i) {
            MEMSWEEP_TRY(take(paths[first + i], *std::exchange(results[i], std::nullopt)));
        }
    }
    return {};
}

base::Expected<HostTags> read_host_tags(const std::string& path)
{
    const std::string text = MEMSWEEP_TRY(sys::read_file(path, largest_table_bytes));
    std::string_view rest = text;
    const std::vector<std::string> names = fields_of(sys::take_line(rest));
    if (names.size() < 2 || names.front() != "host") {
        return refuse("the first line must name the columns, the first of them \"host\": host,rack,switch",
                      path + ":1");
    }
    if (names.size() > most_table_columns) {
        return refuse(fmt::format("more than {} columns", most_table_columns), path + ":1");
    }
    HostTags tags;
    std::size_t count = 0;
    for (std::size_t number = 2; !rest.empty(); ++number) {
        const std::string_view line = sys::trimmed(sys::take_line(rest));
        if (line.empty()) {
            continue;
        }
        const std::vector<std::string> fields = fields_of(line);
        if (fields.size() != names.size() || fields.front().empty()) {
            return refuse(fmt::format("{} fields where the first line names {}", fields.size(), names.size()),
                          fmt::format("{}:{}", path, number));
        }
        for (std::size_t i = 1; i < fields.size(); ++i) {
            if (!fields[i].empty()) {
                tags[fields.front()][names[i]] = fields[i];
                ++count;
            }
        }
        if (count > most_tags) {
            return refuse(fmt::format("more than {} tags", most_tags), fmt::format("{}:{}", path, number));
        }
    }
    return tags;
}

// "128", or names as in "n[001-128],login1".
base::Expected<measure::Expectation> parse_expectation(const std::string& text)
{
    measure::Expectation expectation;
    if (text.empty()) {
        return expectation;
    }
    if (text.find_first_not_of("0123456789") == std::string::npos) {
        const auto count = base::parse_number(text);
        if (!count || *count == 0) {
            return refuse(fmt::format("\"{}\" is no number of hosts", text), "--expect");
        }
        expectation.hosts = *count;
        return expectation;
    }
    auto names = base::expand_host_list(text);
    if (!names) {
        return refuse(names.error().message, "--expect");
    }
    expectation.names = *std::move(names);
    return expectation;
}

struct MergeCommand {
    std::vector<std::string> results;
    std::string out;
    std::string expect;  // a number of hosts, or their names; empty: whoever is there
    std::string tags;    // a table of the hosts' tags
    bool force{};
    bool one_machine{};
};

struct Part {
    std::string path;
    model::RunReport report;
};

// Results of one host are kept whole, to be merged into one; those of several become a fleet as they are read.
struct Collected {
    const MergeCommand& command;
    bool is_fleet{};
    std::vector<base::Error> unreadable{};
    ExitCode worst{ExitCode::done};
    std::vector<Part> parts{};
    std::string ids{};  // the run ids of a fleet
    measure::FleetBuilder fleet{command.force};

    base::Expected<void> take(const std::string& path, base::Expected<model::RunReport> result)
    {
        if (!result) {
            unreadable.push_back(std::move(result.error()));
            return {};
        }
        if (result->run.interrupted) {
            print_note(fmt::format("{}: its run did not finish; what it measured is merged", path));
        }
        worst = worse(worst, static_cast<ExitCode>(result->run.exit_code));
        const bool other_host =
            !parts.empty() && measure::host_name(*result) != measure::host_name(parts.front().report);
        is_fleet = is_fleet || (other_host && !command.one_machine);
        parts.push_back({path, *std::move(result)});
        return is_fleet ? move_to_fleet() : base::Expected<void>{};
    }

    base::Expected<void> move_to_fleet()
    {
        for (const Part& part : parts) {
            MEMSWEEP_TRY(fleet.add(part.path, part.report));
            ids += part.report.run.id + "\n";
        }
        parts.clear();
        return {};
    }
};

// The same parts make the same id: merging twice writes the same bytes twice.
std::string id_of(const std::string& started, const std::string& parts)
{
    return fmt::format("{}-{:.8}", started, scenarios::sha256(parts));
}

base::Expected<ExitCode> write_merged(const Collected& collected, const MergeCommand& command,
                                      const GlobalOptions& global)
{
    std::vector<measure::MergePart> parts;
    for (const Part& part : collected.parts) {
        parts.push_back({part.path, &part.report});
    }
    model::RunReport merged = MEMSWEEP_TRY(measure::merge(parts, command.force));
    merged.run.id = id_of(merged.run.started, merged.run.tags.at(measure::merged_from_tag));
    merged.run.argv = global.argv;
    merged.run.exit_code = static_cast<int>(collected.worst);
    return write_text(reporters::to_json(merged), command.out);
}

void report_missing(const model::Fleet& fleet)
{
    const std::size_t missing = model::count_missing(fleet);
    const std::size_t unnamed = missing - std::min(missing, fleet.missing.size());
    std::string who = fmt::format("{}", fmt::join(fleet.missing, ", "));
    if (unnamed > 0) {
        who += fmt::format("{}{} host{} that no result names", who.empty() ? "" : " and ", unnamed,
                           unnamed == 1 ? "" : "s");
    }
    print_error({base::ErrorCode::invalid_input,
                 fmt::format("{} of {} hosts came; missing: {}", fleet.hosts.size(),
                             fleet.expected.value_or(fleet.hosts.size()), who),
                 "merge"});
}

ExitCode write_fleet(Collected& collected, const measure::Expectation& expectation, const HostTags& tags,
                     const MergeCommand& command, const GlobalOptions& global)
{
    model::Fleet fleet = collected.fleet.finish(expectation, tags);
    fleet.id = id_of(fleet.started, collected.ids);
    fleet.argv = global.argv;
    fleet.exit_code = static_cast<int>(collected.worst);
    const ExitCode written =
        write_text([&](reporters::TextSink& sink) { reporters::write_fleet_json(fleet, sink); }, command.out);
    if (model::count_missing(fleet) == 0) {
        return written;
    }
    report_missing(fleet);
    return worse(written, ExitCode::case_failed);
}

base::Expected<ExitCode> execute(const MergeCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_one_stdin(command.results));
    const measure::Expectation expectation = MEMSWEEP_TRY(parse_expectation(command.expect));
    const HostTags tags = command.tags.empty() ? HostTags{} : MEMSWEEP_TRY(read_host_tags(command.tags));
    // With hosts to expect, a result that cannot be read is that of a host that did not come through.
    const bool expects = !command.expect.empty();
    Collected collected{.command = command, .is_fleet = expects || !command.tags.empty()};
    MEMSWEEP_TRY(read_results(command.results, [&](const std::string& path, base::Expected<model::RunReport> result) {
        return collected.take(path, std::move(result));
    }));
    print_errors(collected.unreadable);
    const bool is_empty = collected.parts.empty() && collected.ids.empty();
    if (is_empty || (!collected.unreadable.empty() && !expects)) {
        return ExitCode::bad_input;
    }
    return collected.is_fleet ? write_fleet(collected, expectation, tags, command, global)
                              : write_merged(collected, command, global);
}

}  // namespace

void add_merge(Command& root, const GlobalOptions& global)
{
    Command& command =
        root.command("merge", "Join results of one scenario into one, or those of many hosts into a fleet");
    auto& merge = arguments_of<MergeCommand>(command, global, execute);
    command.positional("result RESULT", value::texts(merge.results),
                       "Results of one scenario on one kind of machine, or on many hosts; - is stdin");
    command.required_option("-o,--out FILE", value::text(merge.out), "Where to write the merged result; - is stdout");
    command.option("--expect HOSTS", value::text(merge.expect),
                   "The hosts to expect, as a number (128) or as names (n[001-128]); if one is missing, it is named "
                   "and the exit code is 3");
    command.option("--tags FILE", value::text(merge.tags),
                   "A CSV table of the hosts' tags, with a first line such as host,rack,switch");
    command.flag("--one-machine", merge.one_machine, "Treat different host names as one machine, as for containers");
    command.flag("--force", merge.force, "Merge different scenarios or machines all the same");
    command.footer =
        "Results of several hosts make a fleet, which report and compare understand; what one host measured in "
        "parts makes one result. Exit codes: 0 merged; 2 unreadable, or not to be merged: other scenarios, "
        "machines or units, or a run that is given twice; 3 a host is missing.";
}

}  // namespace memsweep::app
