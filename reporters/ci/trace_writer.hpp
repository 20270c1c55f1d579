// A result as Chrome trace events, for Perfetto and chrome://tracing.
//
// A case is a process; its repetitions follow each other with a gap, whenever they really ran, so that the same case's
// phases (X), curves (C) and named points (i) share one axis. Phases that overlap lie on tracks of their own.
//
// Units    `ts` and `dur` in microseconds, counters in the unit of their quantity.
// Sources  "Trace Event Format", the four kinds of event that Perfetto imports without a loss: M, X, C and i.
// Memory   the phases of one case, besides what the sink holds.
// Errors   none: what has no finite time or value is left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_trace(const model::RunReport& report, TextSink& sink);

// The repetitions of a case one after another, so that their phases and curves share one axis of time.
//
// Units    nanoseconds as whole numbers: what nests in the measurement nests after rounding, too.
// Errors   none: a time that is negative, not finite or beyond a day has no place; neither has what happened at it.
struct PlacedPhase {
    const model::Phase* phase{};
    std::int64_t start_ns{};
    std::int64_t end_ns{};
    std::size_t lane{};  // within one, any two are nested or apart: a viewer draws nothing else
};

class Timeline {
  public:
    explicit Timeline(const model::CaseReport& report);

    struct Span {
        std::int64_t start_ns{};
        std::int64_t end_ns{};
    };
    [[nodiscard]] const std::map<std::uint32_t, Span>& repetitions() const { return spans_; }
    [[nodiscard]] std::optional<std::int64_t> at(std::uint32_t repetition, double seconds) const;
    [[nodiscard]] std::vector<PlacedPhase> phases(const model::CaseReport& report) const;

  private:
    void reach(std::uint32_t repetition, double seconds);

    std::map<std::uint32_t, Span> spans_;
};

}  // namespace memsweep::reporters
