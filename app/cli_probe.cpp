#include "app/cli_probe.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/base/suggest.hpp"
#include "core/sys/numa_nodes.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t least_array_bytes = 64U << 10;
constexpr std::chrono::seconds longest_sample{10};

template <typename T>
T value_or_throw(base::Expected<T> parsed, const char* flag)
{
    if (!parsed) {
        throw CLI::ValidationError(flag, parsed.error().message);
    }
    return *std::move(parsed);
}

std::vector<std::uint32_t> numbers_in(const std::string& list, const char* flag)
{
    auto numbers = sys::parse_list(list);
    if (!list.empty() && !numbers) {
        throw CLI::ValidationError(flag, fmt::format("\"{}\" is no list of numbers such as 0,2-3", list));
    }
    return list.empty() ? std::vector<std::uint32_t>{} : *std::move(numbers);
}

bool is_preset(const std::string& word)
{
    return std::ranges::find(probe_presets, word) != probe_presets.end();
}

void check_word(const std::string& word)
{
    if (std::ranges::find(probe_words, word) == probe_words.end() && is_preset(word)) {
        throw CLI::ValidationError("WHAT", fmt::format("\"{0}\" is a scenario: memsweep run probe_{0} runs it, and "
                                                       "memsweep probe {0} --dump-scenario writes it",
                                                       word));
    }
    if (std::ranges::find(probe_words, word) == probe_words.end()) {
        throw CLI::ValidationError(
            "WHAT", fmt::format("\"{}\" is nothing to probe{}", word, base::suggestion(word, probe_words)));
    }
}

}  // namespace

ProbeCommandLine::ProbeCommandLine(CLI::App& app)
    : app_{app.add_subcommand("probe", "Measure this machine: topology, bandwidth, latency, faults, devices")}
{
    app_->add_option("what", probe_.what,
                     "topology, bandwidth, latency, faults, device or all (default all); or transfers, as in "
                     "'host:pinned@node0 -> cpu -> host@node0', measured at once")
        ->type_name("WHAT");
    app_->add_option("-k,--filter", probe_.filter, "Only cases whose id matches this regular expression")
        ->type_name("REGEX");
    app_->add_option("--size", size_,
                     "Of each of three arrays (default: beyond the caches measured, 256MiB or more), or of a transfer "
                     "(default 256MiB)")
        ->type_name("SIZE");
    app_->add_option("--min-time", min_time_, "Of each sample of a bandwidth (default 20ms)")->type_name("DURATION");
    app_->add_option("-n,--samples", probe_.samples, "Of each case (default 7)")
        ->check(CLI::Range(1U, 10'000U))
        ->type_name("N");
    app_->add_option("--nodes", nodes_, "Only these NUMA nodes, as in 0,2-3 (default: all)")->type_name("LIST");
    app_->add_option("--devices", devices_, "Only these devices, as in 0,2-3 (default: all), and gpu* stands for them")
        ->type_name("LIST");
    app_->add_option("--pairs", probe_.pairs,
                     "Of devices, at most so many in each case (default: all), each device as often")
        ->check(CLI::Range(1U, 1'000'000U))
        ->type_name("N");
    app_->add_option("--limits", probe_.limits,
                     "Hold the figures against this file: exit code 1, and each violated limit is named; - is stdin")
        ->type_name("FILE");
    app_->add_option("-f,--format", probe_.format,
                     "text, json, csv, html and the others of `memsweep list formats` (default text; json for -o)")
        ->type_name("FMT");
    app_->add_option("--export", probe_.export_format, "The same as --format: nvbandwidth for what reads its JSON")
        ->type_name("FMT")
        ->excludes("--format");
    app_->add_option("-o,--out", probe_.out,
                     "Write the format to this file; %h host, %r rank, %s what is probed, %t UTC; - is stdout")
        ->type_name("FILE");
    app_->add_option("--tag", tags_, "Record a tag in the result, as rack=r7 (repeatable)")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    app_->add_flag("--dump-scenario", probe_.dump_scenario,
                   "Measure nothing: write the transfers, or a preset of the catalog such as h2d, numa or healthcheck, "
                   "as a scenario for `memsweep run` (to -o, or stdout)");
    app_->footer(
        "What this machine lacks is listed as skipped, with its reason. Exit codes: 0 done; 1 wrong data, or a limit\n"
        "is violated; 2 wrong usage, or output that cannot be written; 3 the kernel refused something; 130/143 "
        "interrupted.");
}

std::optional<ProbeCommand> ProbeCommandLine::given() const
{
    if (!app_->parsed()) {
        return std::nullopt;
    }
    ProbeCommand probe = probe_;
    probe.what.clear();
    if (probe.dump_scenario && probe_.what.size() == 1 && is_preset(probe_.what.front())) {
        probe.preset = probe_.what.front();
        if (!size_.empty() || probe.samples) {
            throw CLI::ValidationError("--dump-scenario", "writes a preset as it is: edit it, or give memsweep run -n");
        }
    }
    for (const std::string& word : probe_.what) {
        if (!probe.preset.empty()) {
            break;
        }
        if (word.find("->") != std::string::npos) {
            probe.transfers.push_back(value_or_throw(model::parse_transfer(word), "WHAT"));
        } else {
            check_word(word);
            probe.what.push_back(word);
        }
    }
    if (!size_.empty()) {
        probe.array_bytes = value_or_throw(base::parse_size(size_), "--size");
        if (*probe.array_bytes < least_array_bytes) {
            throw CLI::ValidationError("--size", fmt::format("at least {}", base::exact_size(least_array_bytes)));
        }
    }
    if (!min_time_.empty()) {
        probe.min_time = value_or_throw(base::parse_duration(min_time_), "--min-time");
        if (*probe.min_time <= std::chrono::nanoseconds{} || *probe.min_time > longest_sample) {
            throw CLI::ValidationError("--min-time", "above 0 and at most 10s");
        }
    }
    if (probe.dump_scenario && probe.preset.empty() && (probe.transfers.empty() || !probe.what.empty())) {
        throw CLI::ValidationError("--dump-scenario",
                                   fmt::format("writes transfers, as in 'host -> cpu -> host', or one preset: {}",
                                               fmt::join(probe_presets, ", ")));
    }
    if (!probe.export_format.empty()) {
        probe.format = probe.export_format;
    }
    for (const std::string& text : tags_) {
        const std::size_t at = text.find('=');
        if (at == std::string::npos || at == 0) {
            throw CLI::ValidationError("--tag", fmt::format("\"{}\" is not KEY=VALUE", text));
        }
        probe.tags[text.substr(0, at)] = text.substr(at + 1);
    }
    probe.nodes = numbers_in(nodes_, "--nodes");
    probe.devices = numbers_in(devices_, "--devices");
    return probe;
}

}  // namespace memsweep::app
