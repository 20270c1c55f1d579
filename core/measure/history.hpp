// Puts many results in the order of their runs. Shows the value of each metric in each run, and the runs at which its
// level changed.
//
// Results whose scenarios and machines have the same fingerprints make one history. Each run is one point, its median.
// Whatever is particular about a run affects all its repetitions, so repetitions do not count as further runs.
//
// Sources  change_points.hpp for metrics that vary. A cut is a place between two runs where the level may change. The
//          best cuts of all metrics are tested together with Benjamini-Hochberg, and further cuts at the level that is
//          left (Benjamini and Bogomolov 2014). A cut counts as a change only if the runs before and after it also
//          differ in size and interval, as in any comparison (verdict.hpp). An exact counter changes where its median
//          leaves the last level by more than its threshold. No random numbers are used.
// Memory   only the medians of each result are kept.
// Errors   none: what cannot be judged has no changes, and `too_few_runs` says so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measure/comparison.hpp"
#include "core/measure/findings.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct HistoryRun {
    std::string name;  // the file as named on the command line
    std::string id, started, host;
    std::string version;  // memsweep's, with its commit
    bool interrupted{};
};

struct TrendPoint {
    std::uint64_t n{};  // values
    double median{};
    std::optional<std::array<double, 2>> ci95;
};

struct Change {
    std::size_t run{};  // the first run on the new level
    Verdict verdict{};  // regressed or improved; informational: the metric describes the machine
    double before{}, after{};
    Shift shift;
    std::optional<double> q;  // for a metric that varies
    Reason reason;
};

struct TrendSubject {
    std::string scenario, case_id, metric;
    model::Unit unit{};
    model::Better better{};
    model::MetricClass metric_class{};
};

struct Trend : TrendSubject {
    Threshold threshold;
    std::vector<std::optional<TrendPoint>> points;  // one per run
    std::vector<Change> changes;
    std::optional<std::size_t> too_few_runs;  // runs that measured the metric, if they are fewer than min_runs
};

struct HistorySubject {
    std::string scenario, description;
    std::string machine;  // in words
    std::string scenario_fingerprint, machine_fingerprint;
};

struct History : HistorySubject {
    std::vector<HistoryRun> runs;  // in the order they were started
    std::vector<Trend> trends;     // case by case
    std::size_t judged{};          // how many trends were tested together: those of metrics that vary
    // Regressions before improvements, the latest first: a few of each, then the number of the others.
    std::vector<Finding> findings;
};

// A result that is in no history, because another result has the same run, or because no other result has its scenario
// and machine.
struct LeftOut {
    std::string name;      // the file
    std::string again_of;  // the file that has the same run; empty: none
    std::string scenario{};
};

struct Histories {
    std::vector<History> histories;  // the longest first
    std::vector<LeftOut> left_out;
};

class HistoryBuilder {
  public:
    void add(const std::string& name, const model::RunReport& report);
    [[nodiscard]] Histories finish(const Criteria& criteria);

  private:
    struct Value {
        TrendSubject subject;
        TrendPoint point;
    };
    struct Entry {
        HistorySubject subject;
        HistoryRun run;
        std::vector<Value> values;
    };
    static History history_of(const std::vector<const Entry*>& entries, const Criteria& criteria);

    std::vector<Entry> entries_;
};

// The number of runs that a noisy metric needs before a change can be shown.
inline constexpr std::size_t min_runs = 8;

[[nodiscard]] std::size_t count_changes(const History& history, Verdict verdict);

[[nodiscard]] RunPlace place_of(const History& history, std::size_t run);

}  // namespace memsweep::measure
