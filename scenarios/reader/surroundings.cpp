#include "scenarios/reader/surroundings.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/names.hpp"
#include "core/sys/file_text.hpp"
#include "core/trace/summary.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::scenarios {
base::Expected<std::string> read_text_file(const std::string& path)
{
    return sys::read_file(path, max_file_bytes).map_error([&](base::Error error) {
        error.where = path;
        if (error.code == base::ErrorCode::invalid_input && error.message.starts_with("larger")) {
            error.message = fmt::format("larger than {} bytes, the limit of a scenario file", max_file_bytes);
        }
        return error;
    });
}

std::optional<std::string> process_environment(const std::string& name)
{
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

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
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(path));
    const trace::TraceSummary summary = trace::summarize(reader);
    static_cast<void>(reader.may_hold_events(summary.totals.events));
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(trace::possible_total(summary.totals.impossible_event, path));
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

LookAtTrace asked_once(LookAtTrace look)
{
    return [look = std::move(look), known = std::make_shared<std::map<std::string, TraceFacts>>()](
               const std::string& path) -> base::Expected<TraceFacts> {
        auto found = known->find(path);
        if (found == known->end()) {
            found = known->emplace(path, MEMSWEEP_TRY(look(path))).first;
        }
        return found->second;
    };
}

}  // namespace memsweep::scenarios
