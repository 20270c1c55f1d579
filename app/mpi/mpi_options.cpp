#include "app/mpi/mpi_options.hpp"

#include <algorithm>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/command_tree.hpp"
#include "app/commands.hpp"
#include "app/mpi/mpi_pages.hpp"
#include "app/mpi/rank_plan.hpp"
#include "core/base/quantity.hpp"
#include "core/model/tool_info.hpp"
#include "core/model/transfer_step.hpp"
#include "scenarios/limits.hpp"

namespace memsweep::mpi {
namespace {

struct Raw {
    std::string own, patterns;
    std::vector<std::string> what;
    std::string together{"one"}, message, array, min_time, link_time, patience, own_patience;
    std::vector<std::string> tags;
    std::string shell, manual_date;
};

template <typename T>
T value_or_throw(base::Expected<T> parsed, const char* flag)
{
    if (!parsed) {
        throw CLI::ValidationError(flag, parsed.error().message);
    }
    return *std::move(parsed);
}

std::vector<std::string> words(const std::string& text)
{
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        parts.push_back(text.substr(start, comma - start));
        start = comma + 1;
    }
    return parts;
}

std::vector<Pattern> patterns_of(const std::string& text)
{
    std::vector<Pattern> found;
    for (const std::string& word : words(text)) {
        const auto* entry = std::ranges::find(patterns, word, &NamedPattern::name);
        if (entry != patterns.end()) {
            found.push_back(entry->pattern);
        } else if (word != "none") {
            throw CLI::ValidationError("--links",
                                       fmt::format("\"{}\" is no pattern; there are latency, uni, bidirectional, "
                                                   "all-to-one, one-to-all, ring and none",
                                                   word));
        }
    }
    return found;
}

void add_options(CLI::App& app, MpiOptions& options, Raw& raw)
{
    app.add_option("scenario", raw.what,
                   "Scenario files that say \"ranks\", or transfers in words, all at once: 'rank0:host -> "
                   "rank1:host:pinned@node0'. Then --own and --links are none unless they are given")
        ->type_name("FILE");
    app.add_option("--own", raw.own,
                   "What each rank measures of its own memory, as memsweep probe: bandwidth, latency, "
                   "faults, with commas; or none (default bandwidth,latency)")
        ->type_name("LIST:{bandwidth,latency,faults,none}");
    app.add_option("--at-once", raw.together,
                   "How many ranks measure their own memory at the same time: one, pairs or all")
        ->capture_default_str()
        ->check(CLI::IsMember({"one", "pairs", "all"}))
        ->type_name("WHO");
    app.add_option("-k,--filter", options.own.filter, "Only own cases whose id matches this regular expression")
        ->type_name("REGEX");
    app.add_option("--size", raw.array, "Of the arrays of own cases, as for memsweep probe")->type_name("SIZE");
    app.add_option("--min-time", raw.min_time, "Of each sample of own cases (default 20ms)")->type_name("DURATION");
    app.add_option("--link-time", raw.link_time, "Of each sample of a link (default 5ms)")->type_name("DURATION");
    app.add_option("-n,--samples", options.link.samples, "Of each case")
        ->capture_default_str()
        ->check(CLI::Range(1U, 10'000U))
        ->type_name("N");
    app.add_option("--links", raw.patterns, "What is measured between the ranks, with commas; or none (default all)")
        ->type_name("LIST:{latency,uni,bidirectional,all-to-one,one-to-all,ring,none}");
    app.add_option("--message", raw.message, "Size of a message (default 4MiB)")->type_name("SIZE");
    app.add_option("--patience", raw.patience, "With a rank that does not answer in a link test (default 10s)")
        ->type_name("DURATION");
    app.add_option("--own-patience", raw.own_patience, "With a rank that measures its own memory (default 5m)")
        ->type_name("DURATION");
    app.add_option("-o,--out", options.out, "Each rank's own result, written as it goes; %h host, %r rank")
        ->capture_default_str()
        ->type_name("FILE");
    app.add_option("--gather", options.gather, "The fleet result that rank 0 writes as it goes")
        ->capture_default_str()
        ->type_name("FILE");
    app.add_option("--tag", raw.tags, "Record a tag in every rank's result (repeatable)")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    app.add_flag("--resume", options.resume,
                 "Go on with the results that -o names: what they hold is not measured again");
    app.add_flag("-q,--quiet", options.global.quiet, "No progress");
    app.add_option("--completion", raw.shell, "Print the completion script of a shell, and do nothing else")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
    app.add_option("--man", raw.manual_date, "Print the manual page with this date")->group("");
    app.footer("Run it under mpirun or srun. A rank that dies or hangs costs its own cases: use\n"
               "  timeout 30m mpirun --enable-recovery ... memsweep-mpi -o results/%h-%r.json\n"
               "  memsweep merge results/*.json -o fleet.json --expect HOSTS\n"
               "Exit codes: 0 done; 1 wrong data; 2 wrong usage; 3 a rank did not answer.");
}

void sort_out(MpiOptions& options, Raw& raw)
{
    for (const std::string& what : raw.what) {
        if (what.find("->") == std::string::npos) {
            options.scenarios.push_back(what);
            continue;
        }
        const auto spec = value_or_throw(model::parse_transfer(what), "transfer");
        constexpr auto any_rank = static_cast<std::uint32_t>(scenarios::max_ranks);
        if (std::string why = model::rank_objection(spec, any_rank); !why.empty()) {
            throw CLI::ValidationError("transfer", why);
        }
        if (std::ranges::find(options.transfers, spec) != options.transfers.end()) {
            throw CLI::ValidationError("transfer", fmt::format("{} stands there twice", what));
        }
        options.transfers.push_back(spec);
    }
    if (options.transfers.size() > model::most_transfers_at_once) {
        throw CLI::ValidationError("transfer", fmt::format("at most {} at once", model::most_transfers_at_once));
    }
    const bool all = raw.what.empty();
    raw.own = !raw.own.empty() ? raw.own : all ? "bandwidth,latency" : "none";
    raw.patterns = !raw.patterns.empty() ? raw.patterns
                   : all                 ? "latency,uni,bidirectional,all-to-one,one-to-all,ring"
                                         : "none";
}

void finish(MpiOptions& options, Raw& raw)
{
    sort_out(options, raw);
    for (const std::string& word : words(raw.own)) {
        if (word == "bandwidth" || word == "latency" || word == "faults") {
            options.own.what.push_back(word);
        } else if (word != "none") {
            throw CLI::ValidationError("--own", fmt::format("\"{}\" is not bandwidth, latency, faults or none", word));
        }
    }
    options.together = raw.together == "one"     ? Together::one
                       : raw.together == "pairs" ? Together::pairs
                                                 : Together::all;
    options.patterns = patterns_of(raw.patterns);
    options.own.samples = options.link.samples;
    if (!raw.array.empty()) {
        options.own.array_bytes = value_or_throw(base::parse_size(raw.array), "--size");
    }
    if (!raw.min_time.empty()) {
        options.own.min_time = value_or_throw(base::parse_duration(raw.min_time), "--min-time");
    }
    if (!raw.link_time.empty()) {
        const auto time = value_or_throw(base::parse_duration(raw.link_time), "--link-time");
        options.link.sample_seconds = std::chrono::duration<double>(time).count();
    }
    if (!raw.message.empty()) {
        constexpr std::uint64_t largest = 1U << 30U;
        options.link.bytes = value_or_throw(base::parse_size(raw.message), "--message");
        if (options.link.bytes < 8 || options.link.bytes > largest || options.link.bytes % 8 != 0) {
            throw CLI::ValidationError("--message", "a multiple of 8 bytes up to 1GiB");
        }
    }
    if (!raw.patience.empty()) {
        options.link.patience = value_or_throw(base::parse_duration(raw.patience), "--patience");
    }
    if (!raw.own_patience.empty()) {
        options.own_patience = value_or_throw(base::parse_duration(raw.own_patience), "--own-patience");
    }
    for (const std::string& text : raw.tags) {
        const std::size_t at = text.find('=');
        if (at == std::string::npos || at == 0) {
            throw CLI::ValidationError("--tag", fmt::format("\"{}\" is not KEY=VALUE", text));
        }
        options.own.tags[text.substr(0, at)] = text.substr(at + 1);
    }
    if (!options.transfers.empty()) {
        options.plans.push_back(plan_of(options.transfers, options.link.bytes, options.link.samples));
    }
    options.global.progress = app::ProgressMode::none;
}

ParsedMpi printed(bool is_first, const std::string& text)
{
    const bool is_out = !is_first || app::print_data(text);
    return {std::nullopt, is_out ? app::ExitCode::done : app::ExitCode::bad_input};
}

}  // namespace

ParsedMpi parse_mpi(int argc, const char* const* argv, bool is_first)
{
    MpiOptions options;
    Raw raw;
    CLI::App program{"Measures the memory of many hosts in step, and the links between them, under MPI",
                     "memsweep-mpi"};
    program.set_version_flag("-V,--version", fmt::format("memsweep-mpi {}", model::this_tool().version));
    add_options(program, options, raw);
    try {
        program.parse(argc, argv);
        if (!raw.shell.empty() || !raw.manual_date.empty()) {
            const app::CommandFacts facts = app::describe(program);
            return printed(is_first, raw.shell.empty() ? manual_page(facts, raw.manual_date)
                                                       : completion_script(facts, raw.shell));
        }
        finish(options, raw);
    } catch (const CLI::Success& success) {
        if (is_first) {
            static_cast<void>(program.exit(success));
        }
        return {std::nullopt, app::ExitCode::done};
    } catch (const CLI::Error& error) {
        if (is_first) {
            std::fputs(fmt::format("memsweep-mpi: error: {}\n", error.what()).c_str(), stderr);
        }
        return {std::nullopt, app::ExitCode::bad_input};
    }
    for (int i = 0; i < argc; ++i) {
        options.global.argv.emplace_back(argv[i]);
    }
    return {std::move(options), app::ExitCode::done};
}

}  // namespace memsweep::mpi
