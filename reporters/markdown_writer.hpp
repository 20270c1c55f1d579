// A result as GitHub-flavoured Markdown, for a job summary or a comment: the verdict first, what is long folded away.
//
// Units    medians, rounded to three digits and with their unit.
// Memory   one table, besides what the sink holds.
// Errors   none. Names are cut in the middle to 100 columns, and tables after 200 rows with the number of rows that are
//          left out, since GitHub drops a summary of more than 1 MiB as a whole.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text_sink.hpp"

namespace memsweep::reporters {

void write_markdown(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
