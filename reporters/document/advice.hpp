// The report of `memsweep advise`: which allocator and settings suit a program, or that no change helps.
//
// Units    bytes, seconds; a ratio divides the value with the setting by the value without the setting.
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
    change,          // a setting saves memory in pairs of runs, and is not shown to cost more than allowed
    change_nothing,  // no setting saves memory at the allowed cost
    predicted_only,  // a setting saves memory in single runs; the budget ended before pairs could prove it
    unsafe,          // the settings that save memory change what the program does, or crash it
};
[[nodiscard]] std::string_view name_of(AdviceVerdict verdict);

// Where the malloc that serves the program comes from: the C library; a preloaded library (LD_PRELOAD); a library that
// the program is linked with; the program's own code; or unseen, if this could not be found out.
enum class MallocOrigin : std::uint8_t { libc, preloaded, linked, own, unseen };
[[nodiscard]] std::string_view name_of(MallocOrigin origin);

struct AdvisedProgram {
    std::string allocator;  // "glibc", "jemalloc", or the library's file; "its own"
    MallocOrigin origin{};
    bool changes_user{};
    unsigned threads{1};
    double heap_share{};          // the part of the resident memory that is not of files; the heap is at most this
    std::uint64_t bound_bytes{};  // the most that any setting can save
    std::string unrecorded;       // why its allocations could not be recorded; empty: they could
    std::string served;           // file of the only program that this allocator serves; empty: it serves all programs
    // What a replay of the recording holds, divided by bound_bytes (all memory that is not of files); empty: no replay.
    std::optional<double> recorded_share;
};

struct AdviceSettings {
    std::string allocator;                                      // a name of model::allocators()
    std::string text;                                           // "glibc trim_threshold=128KiB"
    std::vector<std::pair<std::string, std::string>> settings;  // names as in memsweep, values as in the allocator
    model::Variables environment;                               // includes LD_PRELOAD
    bool keeps_allocator{};
};

struct AdviceTry {
    AdviceSettings settings;
    measure::AdviceStage stage{};
    std::string dropped;           // why this setting is not the advice: "slower", ...; empty: it is the advice
    std::string why;               // `dropped` in words
    std::optional<double> memory;  // median of the runs
    std::optional<double> time;    // median of the runs
    std::uint64_t runs{};
    std::optional<double> predicted;  // memory in replays of a recording

    // Returns predicted / measured memory - 1; negative: the prediction was too low. Absent if either is not known.
    [[nodiscard]] std::optional<double> prediction_error() const
    {
        return predicted && memory && *memory > 0 ? std::optional{*predicted / *memory - 1} : std::nullopt;
    }
};

struct AdviceReport {
    model::ToolInfo tool;
    model::Machine machine;
    std::string taken;
    std::vector<std::string> command;  // the program and its arguments; if `is_script` is set, one text
    bool is_script{};                  // the command is a script of /bin/sh
    std::string wanted_at;             // moment at which memory is compared: "peak", "end", "idle"
    double idle_seconds{};
    std::string end_when;  // sign that the work has ended, such as an output line; empty: the exit
    std::string keep;      // metric that must stay at or below `at_most` times its value with the default settings
    double at_most{};
    AdvisedProgram program;
    AdviceVerdict verdict{};
    std::string reason;  // a sentence; empty if the verdict is `change`
    std::vector<double> default_memory;
    std::vector<double> default_time;
    std::optional<std::size_t> best;  // the advice, as an index in `tried`; empty: no advice
    measure::Judged gain;
    measure::Judged price;
    std::vector<std::string> warnings;
    std::vector<AdviceTry> tried;
    std::uint32_t real_runs{};
    std::uint32_t replays{};
    double seconds{};
    bool is_interrupted{};
    double load{};  // the machine's load average over the minute before the start
};

// Returns how sure it is that a tried setting saves memory. "proven": pairs of runs show it. "not proven": its memory
// was measured only in single runs. "predicted": its memory is known only from a replay. Empty: its memory is not
// known.
[[nodiscard]] std::string_view claim_of(const AdviceReport& report, const AdviceTry& tried);

// Returns the noise of the time: the standard deviation of time(A) / time(B) for two runs A and B with the default
// settings. 0 if there were fewer than two runs.
[[nodiscard]] double noise_of(const AdviceReport& report);

// Each function returns the lines that set these environment variables: in a shell, in a systemd unit, in a Dockerfile.
[[nodiscard]] std::string environment_line(const model::Variables& environment);
[[nodiscard]] std::string systemd_lines(const model::Variables& environment);
[[nodiscard]] std::string dockerfile_line(const model::Variables& environment);

[[nodiscard]] std::string headline_of(const AdviceReport& report);
[[nodiscard]] Document document(const AdviceReport& report);

}  // namespace memsweep::reporters
