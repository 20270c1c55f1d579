// A schedule decides which cases run next. The runner (engine::Runner) asks it for one turn after another, and passes
// in the report with the results of all earlier turns. So a schedule may end early, repeat a round, or choose the next
// case by what was measured.
//
// Each repetition that ends adds one entry to each metric of its case in the report. The entry is empty if no value was
// measured. A metric has a summary only after its case has ended; before that, use measure::summarize(values). The
// status of a new case is `skipped` until its first turn that is no warm-up, or until a warm-up fails. If the status is
// not `ok` after that turn, the case cannot run any more.
//
// A case has at most Settings::repetitions repetitions. The runner ignores a turn beyond this number, and a turn of a
// case that has ended: the report does not change. A schedule must not wait for a repetition that an ignored turn would
// add.
//
// Units    repetitions and places (Turn::first_place) count from 0. A case is given by its index, which is the same in
//          the plan and in the report.
// Errors   none: the runner leaves out cases that cannot run any more.
// Threads  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::schedule {

// Cases that take their turn together.
using Group = std::vector<std::size_t>;

// One repetition of each case of a group: one case after another in one worker process, or all at the same time.
struct Turn {
    std::span<const std::size_t> cases;  // valid as long as the schedule
    std::uint32_t repetition{};          // the number of the repetition, or of the warm-up
    bool is_warmup{};
    bool at_once{};  // the programs of the group run at the same time
    // With at_once: the place (set of processors) of the first case. The next case has the next place, and so on.
    std::size_t first_place{};
    bool notes_pace{};   // the machine's speed (sys::MachinePace) is recorded before this turn
    bool is_compared{};  // the cases are compared: if one must run again to count allocations, all must
};

// Repetition `repetition` of every case no longer counts; the round of this repetition will be run again.
struct Discard {
    std::uint32_t repetition{};
};

// There are no more turns. A case with fewer repetitions than planned keeps its repetitions.
struct End {};

using Next = std::variant<Turn, Discard, End>;

class Schedule {
  public:
    virtual ~Schedule() = default;

    // Returns what the runner does next. The runner calls this for the first turn, and again whenever it has done what
    // next() returned.
    [[nodiscard]] virtual Next next(const model::RunReport& report) = 0;
};

}  // namespace memsweep::schedule
