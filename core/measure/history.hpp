// Puts many results in the order in which they were run. Shows the value of each metric in each run, and the runs at
// which the level of a metric changed.
//
// Results whose scenarios and machines have the same fingerprints make one history. Each run gives one point per
// metric: the median of its repetitions. A disturbance of a run affects all its repetitions, so repetitions do not
// count as further runs.
//
// Sources  change_points.hpp for metrics that vary. It finds cuts: pairs of successive runs between which the level of
//          a metric may have changed. First, the best cuts of all metrics are tested together (Benjamini-Hochberg).
//          Further cuts of a metric are tested at the significance level that this leaves (Benjamini and Bogomolov
//          2014). A cut counts as a change only if the change between the runs before it and the runs after it is also
//          large enough and has an interval that excludes "no change", as in any comparison (verdict.hpp). An exact
//          counter changes at a run whose median differs from the previous level by more than the threshold. No random
//          numbers are used.
// Memory   of each result, only the median and interval of every metric are kept.
// Errors   none: a metric with too few runs has no changes, and its `too_few_runs` is set.
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
    std::uint64_t n{};  // the number of values
    double median{};
    std::optional<std::array<double, 2>> ci95;
};

struct Change {
    std::size_t run{};  // the first run on the new level
    Verdict verdict{};  // regressed or improved; informational: the metric describes the machine
    double before{}, after{};
    Shift shift;
    std::optional<double> q;  // only for a metric that varies
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
    // Regressions before improvements, the latest first. Of each, only a few are listed; then comes the number of those
    // that are not listed.
    std::vector<Finding> findings;
};

// A result that is in no history, because another result contains the same run, or because no other result has the same
// scenario and machine.
struct LeftOut {
    std::string name;      // the file
    std::string again_of;  // the other file that contains the same run; empty: there is none
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

// The fewest runs in which a change of a noisy metric can be shown.
inline constexpr std::size_t min_runs = 8;

[[nodiscard]] std::size_t count_changes(const History& history, Verdict verdict);

[[nodiscard]] RunPlace place_of(const History& history, std::size_t run);

}  // namespace memsweep::measure
