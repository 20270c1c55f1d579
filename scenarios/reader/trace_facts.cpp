#include "scenarios/reader/trace_facts.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/names.hpp"
#include "core/trace/summary.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::scenarios {
namespace {

std::string digest(const trace::TraceSummary& summary)
{
    const trace::Totals& totals = summary.totals;
    return sha256(fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", totals.events, totals.allocations, totals.frees,
                              totals.reallocations, totals.threads, totals.peak_live_bytes, totals.peak_live_blocks,
                              totals.end_live_bytes, totals.bytes_allocated, totals.transfers,
                              fmt::join(summary.sizes, ","), fmt::join(summary.lifetimes, ",")));
}

}  // namespace

base::Expected<TraceFacts> trace_facts(const std::string& path)
{
    if (path == "-") {
        return base::fail(base::ErrorCode::invalid_input, "a trace is read more than once: save it to a file first",
                          path);
    }
    auto reader = trace::TraceReader::open(path);
    if (!reader) {
        return base::fail(reader.error());
    }
    const trace::TraceSummary summary = trace::summarize(*reader);
    TraceFacts facts{.path = path,
                     .content = digest(summary),
                     .events = summary.totals.events,
                     .threads = summary.totals.threads,
                     .peak_live_bytes = summary.totals.peak_live_bytes,
                     .bytes_allocated = summary.totals.bytes_allocated,
                     .largest_block_bytes = summary.totals.max_size,
                     .copies = summary.totals.reallocations + summary.totals.transfers != 0};
    if (summary.totals.allocations == 0) {
        return base::fail(base::ErrorCode::invalid_input, "this trace allocates nothing that could be replayed", path);
    }
    const auto found = summary.facts.find(touch_fact);
    if (found != summary.facts.end()) {
        const auto touch = model::value_of<model::ReplayTouch>(found->second);
        facts.touch = touch && *touch != model::ReplayTouch::recorded ? *touch : facts.touch;
    }
    return facts;
}

std::string beside(const Place& place, const std::string& path)
{
    const std::filesystem::path wanted{path};
    return wanted.is_absolute() || path == "-"
               ? path
               : (std::filesystem::path{std::string{place.name}}.parent_path() / wanted).lexically_normal().string();
}

}  // namespace memsweep::scenarios
