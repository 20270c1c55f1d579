// The repetitions that a result on disk lacks: FILE.journal has a line for each. Lines are appended if writing the
// whole result again would cost more than measuring. A run that resumes the result takes them over.
//
// Cost     of a line: a repetition's values as JSON and one write, for a result of any length. Nothing is flushed to
//          the disk: a kill of the process loses no line, a power failure may.
// Errors   a line that was cut off, or that another run wrote, is passed over; io: the journal cannot be written, or a
//          file of its name is no journal: it is neither added to nor removed.
#pragma once

#include <string>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

[[nodiscard]] std::string journal_path(const std::string& result_path);

// Adds the last repetition of `one`, a case of the report that has any.
[[nodiscard]] base::Expected<void> append_to_journal(const std::string& result_path, const model::RunReport& report,
                                                     const model::CaseReport& one);

// Call after the whole result has been written.
void remove_journal(const std::string& result_path);

// Adds to `report` the repetitions that only its journal has.
void take_over_journal(const std::string& result_path, model::RunReport& report);

}  // namespace memsweep::app
