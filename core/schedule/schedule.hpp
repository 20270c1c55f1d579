// Which cases run next. A schedule is asked for one turn after the other, and sees the report that earlier turns have
// filled. So it may end early, repeat a round, or choose its next case by what was measured.
//
// In the report each repetition adds a value to the metrics of its case, empty if it was not measured. A metric has its
// summary only when the case has ended. Before that, use measure::summarize(values). Every case begins as `skipped`.
// After its first turn that is no warm-up, a case that is not `ok` cannot go on.
//
// A case takes no more repetitions than Settings::repetitions. A turn beyond them, or of a case that has ended, is
// passed over, and the report stays as it was. A schedule that waits for a repetition there would wait forever.
//
// Units    repetitions and places from 0; cases by their place in the plan, which is the same in the report.
// Errors   none: the taker of a turn leaves out cases that cannot run any more.
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

// One repetition of a group: one case after the other in one worker, or all at the same time.
struct Turn {
    std::span<const std::size_t> cases;  // lives as long as the schedule
    std::uint32_t repetition{};          // counts the warm-ups when `is_warmup`
    bool is_warmup{};
    bool at_once{};             // the programs run at the same time
    std::size_t first_place{};  // if they run at once: the place of the first; the others follow
    bool notes_pace{};          // the machine's pace is noted before it
    bool is_compared{};         // its round is judged as a whole, so a value of one case needs those of all
};

// The repetition of this number no longer counts, for all cases: its round is taken again.
struct Discard {
    std::uint32_t repetition{};
};

// Nothing follows. Cases with fewer repetitions than planned end with those.
struct End {};

using Next = std::variant<Turn, Discard, End>;

class Schedule {
  public:
    virtual ~Schedule() = default;

    // Asked before the first turn, and again when its answer has been carried out.
    [[nodiscard]] virtual Next next(const model::RunReport& report) = 0;
};

}  // namespace memsweep::schedule
