// What the command line says, as plain values; cli.cpp fills it, the commands read it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/command_tree.hpp"
#include "app/recording.hpp"
#include "core/measure/cliff_search.hpp"
#include "core/model/transfer.hpp"
#include "core/trace/import/import.hpp"
#include "scenarios/loader.hpp"
#include "scenarios/replay_plan.hpp"

namespace memsweep::app {

enum class ColorMode { automatic, always, never };
enum class ProgressMode { automatic, bar, plain, json, none };

struct GlobalOptions {
    ColorMode color{ColorMode::automatic};
    ProgressMode progress{ProgressMode::automatic};
    bool quiet{};
    bool verbose{};
    std::vector<std::string> argv;
};

struct ReportTarget {
    std::string format;
    std::string path;  // empty or "-": stdout
};

struct RunCommand {
    std::vector<std::string> scenarios;
    std::string out;  // empty: results/<scenario>-<UTC>.json
    std::vector<ReportTarget> reports;
    scenarios::Overrides overrides;
    std::string filter;
    std::optional<std::uint64_t> max_memory_bytes;
    std::map<std::string, std::string> tags;
    std::string events;
    std::string baseline;  // a result to compare with; %h %r %s %t as in `out`
    std::string gate;      // of the comparison
    bool resume{};
    bool fail_fast{};
    bool dry_run{};
    bool quick{};
};

struct ReportCommand {
    std::vector<std::string> results;
    std::string format{"text"};
    std::string out;
    bool check{};
};

struct CompareCommand {
    std::vector<std::string> results;
    std::vector<std::pair<std::string, std::string>> between;     // AXIS, VALUE: the base, then the candidate; or empty
    std::vector<std::string> metrics;                             // empty: all
    std::vector<std::pair<std::string, std::string>> thresholds;  // METRIC, "5%,1MiB"
    std::string gate;                                             // a file or the name of one that ships
    std::string format{"text"};
    std::string out;
    bool points{};
    bool no_gate{};
    bool only_changed{};
    bool explain{};
    bool force{};
};

struct ValidateCommand {
    std::vector<std::string> files;
};

struct ListCommand {
    std::string what;
    bool json{};
    std::vector<std::string> files;  // of `list cases`; of `list scenarios`: the folder
};

struct SchemaCommand {
    std::string which;
};

struct MergeCommand {
    std::vector<std::string> results;
    std::string out;
    std::string expect;  // a number of hosts, or their names; empty: whoever is there
    std::string tags;    // a table of the hosts' tags
    bool force{};
    bool one_machine{};
};

struct DoctorCommand {
    bool json{};
};

struct InfoCommand {
    std::string trace;
    bool json{};
};

struct CliffsCommand {
    std::vector<std::string> allocators;
    measure::SizeRange range;
    std::string format{"text"};
    std::string out;
    bool no_verify{};
};

// Ours alone: measures one size in a process of its own.
struct MallocCostCommand {
    int answer_fd{};
    std::uint64_t bytes{};
};

struct ImportCommand {
    std::string log;
    std::string out;
    std::string format;  // empty: by its first bytes
    trace::FreeOrder free_order{trace::FreeOrder::lifo};
    std::optional<std::uint64_t> uid;
    bool strict{};
    bool json{};
};

struct ExportCommand {
    std::string trace;
    std::string out;
    std::string format;
};

struct FitCommand {
    std::string trace;
    std::string format{"text"};
    std::string out;
    std::vector<std::string> policies;  // empty: all
    std::optional<std::uint64_t> capacity_bytes;
    std::optional<std::uint64_t> alignment_bytes;
    std::uint64_t runs{1};
};

struct ReplayCommand {
    scenarios::ReplayRequest request;
    std::string format;  // empty: tables
    std::string out;
    std::vector<ReportTarget> reports;
    std::optional<std::uint64_t> max_memory_bytes;
    bool dry_run{};
};

struct RecordCommand {
    std::vector<std::string> command;
    std::string out;
    RecordingChoice choice;
    std::string recover;  // the folder of a recording that was cut off; empty: record
};

struct WatchCommand {
    std::vector<std::string> command;
    std::chrono::nanoseconds interval{};
    std::string format{"text"};
    std::string out;
};

struct ProbeCommand {
    std::vector<std::string> what;               // empty: all, unless transfers are named
    std::vector<model::TransferSpec> transfers;  // all at once
    std::string format;                          // empty: text on the terminal, json in a file
    std::string export_format;                   // another word for it
    std::string out;
    std::string limits;                  // a file
    std::string filter;                  // a regular expression of case ids; empty: all
    std::vector<std::uint32_t> nodes;    // empty: all
    std::vector<std::uint32_t> devices;  // empty: all
    std::optional<std::uint32_t> pairs;  // of devices, so many; absent: all
    std::optional<std::uint64_t> array_bytes;
    std::optional<std::chrono::nanoseconds> min_time;
    std::optional<std::uint32_t> samples;
    bool dump_scenario{};  // of the transfers, instead of measuring them
    std::string preset;    // to dump: a scenario of the catalog, without its probe_; empty: the transfers
    std::map<std::string, std::string> tags;
};

struct CompletionCommand {
    std::string shell;
    CommandFacts tree;
};

struct ManCommand {
    std::string date;
    CommandFacts tree;
};

struct VersionCommand {
    bool json{};
};

struct WorkerCommand {
    int channel_fd{};
};

using Command = std::variant<RunCommand, CompareCommand, ReportCommand, ValidateCommand, ListCommand, SchemaCommand,
                             MergeCommand, DoctorCommand, InfoCommand, ImportCommand, ExportCommand, FitCommand,
                             ReplayCommand, RecordCommand, WatchCommand, CliffsCommand, ProbeCommand, CompletionCommand,
                             ManCommand, VersionCommand, WorkerCommand, MallocCostCommand>;

struct Options {
    GlobalOptions global;
    Command command;
};

}  // namespace memsweep::app
