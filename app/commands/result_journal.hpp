// FILE.journal has one line for each repetition that is not yet in the result FILE. A line is appended if writing the
// whole result again would cost too much time. A run that resumes the result reads these lines.
//
// Cost     per line: the values of one repetition as JSON, and one write, however long the result is. Nothing is
//          flushed to the disk: a killed process loses no line, but a power failure may lose lines.
// Errors   a line that is incomplete or of another run is skipped; io: the journal cannot be written, or a file of that
//          name exists and is no journal. A file that is no journal is neither changed nor removed.
#pragma once

#include <string>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

[[nodiscard]] std::string journal_path(const std::string& result_path);

// Appends the last repetition of a case. `one`: a case of the report that has at least one repetition.
[[nodiscard]] base::Expected<void> append_to_journal(const std::string& result_path, const model::RunReport& report,
                                                     const model::CaseReport& one);

// Call after the whole result has been written.
void remove_journal(const std::string& result_path);

// Adds to `report` the repetitions that are only in the journal.
void take_over_journal(const std::string& result_path, model::RunReport& report);

}  // namespace memsweep::app
