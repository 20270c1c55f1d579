#include "reporters/json/trace_summary_json.hpp"

#include "reporters/text/json.hpp"

namespace memsweep::reporters {

std::string to_json(const trace::TraceSummary& summary)
{
    const trace::Totals& totals = summary.totals;
    Json document = {{"events", totals.events},
                     {"allocations", totals.allocations},
                     {"frees", totals.frees},
                     {"reallocations", totals.reallocations},
                     {"threads", totals.threads},
                     {"peak_live_bytes", totals.peak_live_bytes},
                     {"end_live_bytes", totals.end_live_bytes},
                     {"peak_live_blocks", totals.peak_live_blocks},
                     {"bytes_allocated", totals.bytes_allocated},
                     {"max_size", totals.max_size},
                     {"unknown_frees", totals.unknown_frees},
                     {"duplicate_allocations", totals.duplicate_allocations},
                     {"failures", totals.failures},
                     {"bad_lines", summary.bad_lines}};
    for (const auto& [kind, count] : summary.by_kind) {
        document["by_kind"][std::string{trace::name_of(kind)}] = count;
    }
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
