// What the command line says, as plain values; cli.cpp fills it, the commands read it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/command_tree.hpp"
#include "scenarios/loader.hpp"

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
};

struct CompareCommand {
    std::vector<std::string> results;
    std::vector<std::pair<std::string, std::string>> between;     // AXIS, VALUE: the base, then the candidate; or empty
    std::vector<std::string> metrics;                             // empty: all
    std::vector<std::pair<std::string, std::string>> thresholds;  // METRIC, "5%,1MiB"
    std::string gate;                                             // a file or the name of one that ships
    std::string format{"text"};
    std::string out;
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
    bool force{};
};

struct DoctorCommand {
    bool json{};
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
                             MergeCommand, DoctorCommand, CompletionCommand, ManCommand, VersionCommand, WorkerCommand>;

struct Options {
    GlobalOptions global;
    Command command;
};

}  // namespace memsweep::app
