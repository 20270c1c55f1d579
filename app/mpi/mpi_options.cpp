#include "app/mpi/mpi_options.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/completion.hpp"
#include "app/cli/help.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/shipped.hpp"
#include "core/model/machine.hpp"
#include "core/model/transfer.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::mpi {
namespace {

using app::Arity;
using app::Command;
using app::OptionValue;
using app::refuse;
namespace value = app::value;

constexpr const char* description = R"(.PP
It is started by
.BR mpirun (1)
or
.BR srun (1),
one process per host.
Every rank measures its own memory, as
.B memsweep probe
does, one after the other or together; then the links between the ranks are
measured, one test at a time.
The receiver compares all of the last message of every sample with what was
sent.
.PP
Transfers that are named, in scenario files or in words, are measured instead:
ranks that they name take part, the others wait.
.PP
Each rank writes its own result, described in
.BR memsweep\-result (5),
after every step; rank 0 gathers them into a fleet that
.B memsweep report
and
.B memsweep compare
read.
.PP
Nothing waits for ever: a rank that does not answer in time is left out from
there on, and what the others measure by themselves goes on.
)";

constexpr const char* closing = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
wrong data: what arrived is not what was sent
.TP
.B 2
wrong usage, or a result that cannot be gone on with
.TP
.B 3
a rank did not answer; the results of the others are written
.TP
.B 70
a bug in memsweep
.SH EXAMPLES
.TP
.B mpirun \-\-map\-by node memsweep\-mpi \-o results/%h.json
measures every host and every link.
.TP
.B timeout 30m mpirun \-\-enable\-recovery memsweep\-mpi \-o results/%h.json
ends also where MPI itself hangs because a host is lost.
.TP
.B memsweep merge results/*.json \-o fleet.json \-\-expect 128
then names who is missing, and
.B \-\-resume
measures what is lacking.
.TP
.B mpirun memsweep\\-mpi 'rank0:host \\-> rank1:host:pinned@node0'
measures one transfer between two ranks.
.SH SEE ALSO
.BR memsweep (1),
.BR memsweep\\-scenario (5),
.BR mpirun (1),
.BR srun (1),
.BR memsweep\-result (5)
)";

std::string patterns_section()
{
    std::string text = ".SH LINKS\n";
    for (const NamedPattern& pattern : patterns) {
        text += fmt::format(".TP\n.B {}\n{}\n", pattern.name, pattern.meaning);
    }
    return text;
}

constexpr std::array<std::pair<std::string_view, Together>, 3> at_once{
    {{"one", Together::one}, {"pairs", Together::pairs}, {"all", Together::all}}};

// What the arguments say, before what they leave out is filled in.
struct Arguments {
    std::vector<std::string> what;
    std::vector<std::string> own;
    std::vector<std::string> patterns;
    std::optional<std::chrono::nanoseconds> link_time;
    std::string shell;
    std::string manual_date;
    bool version{};
};

// Words of a table, and "none"; `refusal`: what is wrong with another word.
OptionValue word_list(std::vector<std::string>& target, std::vector<std::string> known, const std::string& refusal)
{
    known.emplace_back("none");
    OptionValue list = value::each_of_list([&target, known, refusal](const std::string& word) -> base::Expected<void> {
        if (std::ranges::find(known, word) == known.end()) {
            return refuse(fmt::format("\"{}\" is {}", word, refusal));
        }
        target.push_back(word);
        return {};
    });
    return value::offering(std::move(list), std::move(known));
}

void add_own(Command& root, MpiOptions& options, Arguments& asked)
{
    root.group = "Memory of each rank";
    root.option("--own LIST",
                word_list(asked.own, {"bandwidth", "latency", "faults"}, "not bandwidth, latency, faults or none"),
                "What each rank measures of its own memory, as memsweep probe: bandwidth, latency, "
                "faults, with commas; or none (default bandwidth,latency)");
    root.option("--at-once WHO", value::defaulting(value::choice(options.together, at_once), "one"),
                "How many ranks measure their own memory at the same time: one, pairs or all");
    root.option("-k,--filter REGEX", value::text(options.own.filter),
                "Only own cases whose id matches this regular expression");
    root.option("--size SIZE", value::size(options.own.array_bytes),
                "Of the arrays of own cases, as for memsweep probe");
    root.option("--min-time DURATION", value::duration(options.own.min_time),
                "Of each sample of own cases (default 20ms)");
    root.option("--own-patience DURATION", value::duration(options.own_patience),
                "With a rank that measures its own memory (default 5m)");
}

void add_links(Command& root, MpiOptions& options, Arguments& asked)
{
    root.group = "Links";
    root.option("--links LIST",
                word_list(asked.patterns, value::names_in(patterns),
                          "no pattern; there are latency, uni, bidirectional, all-to-one, one-to-all, ring and none"),
                "What is measured between the ranks, with commas; or none (default all)");
    root.option("--link-time DURATION", value::duration(asked.link_time), "Of each sample of a link (default 5ms)");
    root.option("-n,--samples N", value::number(options.link.samples, 1, 10'000), "Of each case");
    root.option("--message SIZE", value::size(options.link.bytes), "Size of a message (default 4MiB)");
    root.option("--patience DURATION", value::duration(options.link.patience),
                "With a rank that does not answer in a link test (default 10s)");
}

void add_output(Command& root, MpiOptions& options)
{
    root.group = "Output";
    root.option("-o,--out FILE", value::text(options.out),
                "Each rank's own result, written as it goes; %h host, %r rank");
    root.option("--gather FILE", value::text(options.gather), "The fleet result that rank 0 writes as it goes");
    root.option("--tag KEY=VALUE", value::pairs(options.own.tags, "KEY=VALUE", Arity::each_time),
                "Record a tag in every rank's result (repeatable)");
    root.flag("--resume", options.resume, "Go on with the results that -o names: what they hold is not measured again");
}

void add_options(Command& root, MpiOptions& options, Arguments& asked)
{
    root.optional_positional("scenario FILE", value::texts(asked.what),
                             "Scenario files that say \"ranks\", or transfers in words, all at once: 'rank0:host -> "
                             "rank1:host:pinned@node0'. Then --own and --links are none unless they are given")
        .look_up = app::shipped_scenarios;
    root.flag("-V,--version", asked.version, "Print the version and exit");
    root.flag("-q,--quiet", options.global.quiet, "No progress");
    root.option("--completion SHELL", app::shell_name(asked.shell),
                "Print the completion script of a shell, and do nothing else");
    root.hidden_option("--man DATE", value::text(asked.manual_date));
    add_own(root, options, asked);
    add_links(root, options, asked);
    add_output(root, options);
    root.footer = "Run it under mpirun or srun. A rank that dies or hangs costs its own cases: use\n"
                  "  timeout 30m mpirun --enable-recovery ... memsweep-mpi -o results/%h-%r.json\n"
                  "  memsweep merge results/*.json -o fleet.json --expect HOSTS\n"
                  "Exit codes: 0 done; 1 wrong data; 2 wrong usage; 3 a rank did not answer.";
}

base::Expected<void> take_transfer(const std::string& text, MpiOptions& options)
{
    auto transfer = model::parse_transfer(text);
    if (!transfer) {
        return refuse(transfer.error().message, "transfer");
    }
    constexpr auto any_rank = static_cast<std::uint32_t>(scenarios::max_ranks);
    if (std::string why = model::rank_objection(*transfer, any_rank); !why.empty()) {
        return refuse(std::move(why), "transfer");
    }
    if (std::ranges::find(options.transfers, *transfer) != options.transfers.end()) {
        return refuse(fmt::format("{} stands there twice", text), "transfer");
    }
    options.transfers.push_back(*std::move(transfer));
    return {};
}

base::Expected<void> sort_out(const std::vector<std::string>& what, MpiOptions& options)
{
    for (const std::string& text : what) {
        if (text.find("->") == std::string::npos) {
            options.scenarios.push_back(text);
        } else {
            MEMSWEEP_TRY(take_transfer(text, options));
        }
    }
    if (options.transfers.size() > model::max_transfers_at_once) {
        return refuse(fmt::format("at most {} at once", model::max_transfers_at_once), "transfer");
    }
    return {};
}

base::Expected<void> complete(MpiOptions& options, Arguments& asked)
{
    constexpr std::uint64_t largest_message_bytes = 1U << 30U;
    MEMSWEEP_TRY(sort_out(asked.what, options));
    if (options.link.bytes < 8 || options.link.bytes > largest_message_bytes || options.link.bytes % 8 != 0) {
        return refuse("a multiple of 8 bytes up to 1GiB", "--message");
    }
    // What is measured where neither --own nor --links says it: all of it, or nothing beside what is named.
    const bool all = asked.what.empty();
    options.own.what = all && asked.own.empty() ? std::vector<std::string>{"bandwidth", "latency"} : asked.own;
    std::erase(options.own.what, "none");
    for (const std::string& word : all&& asked.patterns.empty() ? value::names_in(patterns) : asked.patterns) {
        if (const auto* named = std::ranges::find(patterns, word, &NamedPattern::name); named != patterns.end()) {
            options.patterns.push_back(named->pattern);
        }
    }
    options.own.samples = options.link.samples;
    if (asked.link_time) {
        options.link.sample_seconds = std::chrono::duration<double>(*asked.link_time).count();
    }
    if (!options.transfers.empty()) {
        options.plans.push_back(plan_of(options.transfers, options.link.bytes, options.link.samples));
    }
    options.global.progress = app::ProgressMode::none;
    return {};
}

std::string manual(const Command& root, const std::string& date)
{
    return app::manual_page(root,
                            {.summary = "measure the memory of many hosts in step, and the links between them",
                             .called = "mpirun ... memsweep-mpi",
                             .description = description,
                             .closing = patterns_section() + closing},
                            model::this_tool().version, date);
}

// What is printed instead of a measurement; empty: nothing was asked for.
std::string answer_to(const Command& root, const app::Request& request, const Arguments& asked)
{
    if (request.help) {
        return app::help_text(root, root, app::terminal_width(STDOUT_FILENO));
    }
    if (asked.version) {
        return fmt::format("memsweep-mpi {}\n", model::this_tool().version);
    }
    if (!asked.shell.empty()) {
        return app::completion_script(root, asked.shell);
    }
    return asked.manual_date.empty() ? std::string{} : manual(root, asked.manual_date);
}

}  // namespace

ParsedMpi parse_mpi(int argc, const char* const* argv, bool is_first)
{
    MpiOptions options;
    Arguments asked;
    Command root{"memsweep-mpi", "Measures the memory of many hosts in step, and the links between them, under MPI"};
    add_options(root, options, asked);
    root.check = [&] { return complete(options, asked); };
    if (const auto offered = app::completions(root, argc, argv)) {
        return {std::nullopt, app::print_text(*offered)};
    }
    const auto request = parse(root, argc, argv);
    if (!request) {
        if (is_first) {
            std::fputs(fmt::format("memsweep-mpi: error: {}\n", base::describe(request.error())).c_str(), stderr);
        }
        return {std::nullopt, app::ExitCode::bad_input};
    }
    if (const std::string answer = answer_to(root, *request, asked); !answer.empty()) {
        const bool is_out = !is_first || app::print_data(answer);
        return {std::nullopt, is_out ? app::ExitCode::done : app::ExitCode::bad_input};
    }
    options.global.argv.assign(argv, argv + argc);
    return {std::move(options), app::ExitCode::done};
}

}  // namespace memsweep::mpi
