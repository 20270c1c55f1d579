// Many results in the order of their runs: how each metric went from run to run, and where it changed its level.
//
// Results of one scenario and one machine, by their fingerprints, make one history. What a point of it stands for is a
// run, by its median: repetitions within a run share what was particular about that run, so they are not further runs.
//
// Sources  change_points.hpp for what varies, one family over all metrics of a history: Benjamini-Hochberg over each
//          one's surest cut, and every further cut at the level that this leaves (Benjamini and Bogomolov 2014). A cut
//          is a change when also its size and its interval say so, exactly as in a comparison of both sides of it
//          (verdict.hpp). An exact counter changes wherever its median does. Nothing is drawn at random.
// Memory   of a result only its medians are kept.
// Errors   none: what cannot be judged has no changes, and `why` says so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measure/compare.hpp"
#include "core/measure/findings.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct HistoryRun {
    std::string name;  // the file as named on the command line
    std::string id, started, host;
    std::string version;  // of the tool, with its commit
    bool interrupted{};
};

struct TrendPoint {
    std::uint64_t n{};  // values
    double median{};
    std::optional<std::array<double, 2>> ci95;
};

struct Change {
    std::size_t run{};  // the first run on the new level
    Verdict verdict{};  // regressed or improved; informational of what describes the machine
    double before{}, after{};
    Shift shift;
    std::optional<double> q;  // of a metric that varies
    std::string why;
};

struct Trend {
    std::string scenario, case_id, metric;
    model::Unit unit{};
    model::Better better{};
    model::MetricClass metric_class{};
    Threshold threshold;
    std::vector<std::optional<TrendPoint>> points;  // one per run
    std::vector<Change> changes;
    std::string why;  // nothing can be told of it; empty otherwise
};

struct History {
    std::string scenario, description;
    std::string machine;  // in words
    std::string scenario_fingerprint, machine_fingerprint;
    std::vector<HistoryRun> runs;  // in the order they were started
    std::vector<Trend> trends;     // case by case
    std::size_t judged{};          // trends of metrics that vary and were tested together
    std::vector<Finding> findings;
};

struct Histories {
    std::vector<History> histories;     // the longest first
    std::vector<std::string> left_out;  // results that are in none, each with its reason
};

class HistoryBuilder {
  public:
    void add(const std::string& name, const model::RunReport& report);
    [[nodiscard]] Histories finish(const Criteria& criteria);

  private:
    struct Value {
        std::string scenario, case_id, metric;
        model::Unit unit{};
        model::Better better{};
        model::MetricClass metric_class{};
        TrendPoint point;
    };
    struct Entry {
        std::string scenario, description, machine, scenario_fingerprint, machine_fingerprint;
        HistoryRun run;
        std::vector<Value> values;
    };
    static History history_of(const std::vector<const Entry*>& entries, const Criteria& criteria);

    std::vector<Entry> entries_;
};

// The runs that a metric which varies needs before any change of it can be shown.
inline constexpr std::size_t least_runs = 8;

[[nodiscard]] std::size_t count_changes(const History& history, Verdict verdict);

}  // namespace memsweep::measure
