// Which allocator and which settings suit a program, or that none does: `memsweep advise`.
//
// Units    bytes, seconds, ratios with the setting over without.
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
    change,          // a setting gains memory in pairs, and its price is not shown to be more than is allowed
    change_nothing,  // none does
    predicted_only,  // one looks better in single runs, and the budget ended before pairs could prove it
    unsafe,          // those that gain make the program do something else, or crash
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
    double heap_share{};                   // at most: what no file backs, of its resident memory
    std::uint64_t bound_bytes{};           // no setting can return more
    std::string unrecorded;                // why its allocations could not be looked at; empty: they could
    std::string served;                    // the program of the tree that this allocator serves; empty: all of them
    std::optional<double> recorded_share;  // of that bound, what a replay of its recording holds; empty: none was made
};

struct AdviceSettings {
    std::string allocator;                                      // as model::allocators() has it
    std::string text;                                           // "glibc trim_threshold=128KiB"
    std::vector<std::pair<std::string, std::string>> settings;  // by our names, as the allocator reads them
    model::Variables environment;                               // LD_PRELOAD among it
    bool keeps_allocator{};
};

struct AdviceTry {
    AdviceSettings settings;
    measure::AdviceStage stage{};
    std::string dropped;           // "slower", "no_gain", ...; empty: it is the advice
    std::string why;               // in words
    std::optional<double> memory;  // medians
    std::optional<double> time;
    std::uint64_t runs{};
    std::optional<double> predicted;  // memory, from replays of a recording

    // Of the prediction, as a ratio; negative: too little was predicted.
    [[nodiscard]] std::optional<double> prediction_error() const
    {
        return predicted && memory && *memory > 0 ? std::optional{*predicted / *memory - 1} : std::nullopt;
    }
};

struct AdviceReport {
    model::ToolInfo tool;
    model::Machine machine;
    std::string taken;
    std::vector<std::string> command;  // the program and its arguments; one text where `is_script` is set
    bool is_script{};                  // of /bin/sh
    std::string wanted_at;             // "peak", "end", "idle"
    double idle_seconds{};
    std::string end_when;  // empty: the exit
    std::string keep;      // metric
    double at_most{};
    AdvisedProgram program;
    AdviceVerdict verdict{};
    std::string reason;  // of change_nothing, predicted_only and unsafe: a sentence
    std::vector<double> default_memory;
    std::vector<double> default_time;
    std::optional<std::size_t> best;  // in `tried`
    measure::Judged gain;
    measure::Judged price;
    std::vector<std::string> warnings;
    std::vector<AdviceTry> tried;
    std::uint32_t real_runs{};
    std::uint32_t replays{};
    double seconds{};
    bool is_interrupted{};
    double load{};  // of the machine when it began: processes that ran or waited, on average of a minute
};

// Whether a setting's figure is proven by pairs of runs, predicted by a replay alone, or neither; empty: it has none.
[[nodiscard]] std::string_view claim_of(const AdviceReport& report, const AdviceTry& tried);

[[nodiscard]] double noise_of(const AdviceReport& report);  // of a pair's times, as a ratio

// How a service gets the environment.
[[nodiscard]] std::string environment_line(const model::Variables& environment);
[[nodiscard]] std::string systemd_lines(const model::Variables& environment);
[[nodiscard]] std::string dockerfile_line(const model::Variables& environment);

[[nodiscard]] std::string headline_of(const AdviceReport& report);
[[nodiscard]] Document document(const AdviceReport& report);

}  // namespace memsweep::reporters
