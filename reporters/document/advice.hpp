// The report of `memsweep advise`: which allocator and settings suit a program, or that none do.
//
// Units    bytes, seconds; a ratio divides the figure with the setting by the figure without it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/measure/advice.hpp"
#include "core/model/allocator.hpp"
#include "core/model/report.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

enum class AdviceVerdict : std::uint8_t {
    change,          // in pairs of runs a setting saves memory, and is not shown to cost more than allowed
    change_nothing,  // no setting does
    predicted_only,  // a setting saves memory in single runs; the budget ended before pairs could prove it
    unsafe,          // the settings that save memory change what the program does, or crash it
};
[[nodiscard]] std::string_view name_of(AdviceVerdict verdict);

// Whose malloc serves the program.
enum class MallocOrigin : std::uint8_t { libc, preloaded, linked, own, unseen };
[[nodiscard]] std::string_view name_of(MallocOrigin origin);

struct AdvisedProgram {
    std::string allocator;  // "glibc", "jemalloc", or the library's file; "its own"
    MallocOrigin origin{};
    bool changes_user{};
    unsigned threads{1};
    double heap_share{};                   // upper bound: share of resident memory that no file backs
    std::uint64_t bound_bytes{};           // the most that any setting can return
    std::string unrecorded;                // why its allocations could not be recorded; empty: they could
    std::string served;                    // the one program that this allocator serves; empty: all of the tree
    std::optional<double> recorded_share;  // share of bound_bytes that a replay holds; empty: no replay
};

struct AdviceSettings {
    std::string allocator;                                      // a name of model::allocators()
    std::string text;                                           // "glibc trim_threshold=128KiB"
    std::vector<std::pair<std::string, std::string>> settings;  // memsweep's names, the allocator's values
    model::Variables environment;                               // includes LD_PRELOAD
    bool keeps_allocator{};
};

struct AdviceTry {
    AdviceSettings settings;
    measure::AdviceStage stage{};
    std::string dropped;           // why it is not the advice: "slower", "no_gain", ...; empty: it is
    std::string why;               // the same in words
    std::optional<double> memory;  // median of the runs
    std::optional<double> time;    // median of the runs
    std::uint64_t runs{};
    std::optional<double> predicted;  // memory in replays of a recording

    // Relative error of the predicted memory; negative: the prediction was too low.
    [[nodiscard]] std::optional<double> prediction_error() const
    {
        return predicted && memory && *memory > 0 ? std::optional{*predicted / *memory - 1} : std::nullopt;
    }
};

struct AdviceReport {
    model::ToolInfo tool;
    model::Machine machine;
    std::string taken;
    std::vector<std::string> command;  // the program and its arguments; a single text if `is_script` is set
    bool is_script{};                  // a script of /bin/sh
    std::string wanted_at;             // moment at which memory counts: "peak", "end", "idle"
    double idle_seconds{};
    std::string end_when;  // sign of the end of the work; empty: the exit
    std::string keep;      // metric that may be up to `at_most` times the default
    double at_most{};
    AdvisedProgram program;
    AdviceVerdict verdict{};
    std::string reason;  // a sentence, for all verdicts but `change`
    std::vector<double> default_memory;
    std::vector<double> default_time;
    std::optional<std::size_t> best;  // index in `tried`
    measure::Judged gain;
    measure::Judged price;
    std::vector<std::string> warnings;
    std::vector<AdviceTry> tried;
    std::uint32_t real_runs{};
    std::uint32_t replays{};
    double seconds{};
    bool is_interrupted{};
    double load{};  // load average of the machine over the minute before the start
};

// How sure a setting's figure is: "proven" by pairs of runs, "not proven" if it was measured in single runs only,
// "predicted" by a replay alone; empty: there is no figure.
[[nodiscard]] std::string_view claim_of(const AdviceReport& report, const AdviceTry& tried);

[[nodiscard]] double noise_of(const AdviceReport& report);  // of the time ratio of two default runs

// Lines that give a service the environment: for a shell, a systemd unit, a Dockerfile.
[[nodiscard]] std::string environment_line(const model::Variables& environment);
[[nodiscard]] std::string systemd_lines(const model::Variables& environment);
[[nodiscard]] std::string dockerfile_line(const model::Variables& environment);

[[nodiscard]] std::string headline_of(const AdviceReport& report);
[[nodiscard]] Document document(const AdviceReport& report);

}  // namespace memsweep::reporters
