#include "core/trace/summary.hpp"

#include <charconv>

namespace memsweep::trace {
namespace {

std::uint64_t count_in(const Facts& facts, const std::string& name)
{
    std::uint64_t count = 0;
    if (const auto fact = facts.find(name); fact != facts.end()) {
        std::from_chars(fact->second.data(), fact->second.data() + fact->second.size(), count);
    }
    return count;
}

}  // namespace

TraceSummary summarize(TraceReader& reader)
{
    TraceSummary summary;
    Accounting accounting;
    Event event;
    while (reader.next(event)) {
        if (event.kind == EventKind::define_space) {
            summary.spaces[event.space] = {std::string{event.text}, event.space_kind, event.other};
            continue;
        }
        accounting.add(event);
        ++summary.by_kind[event.kind];
    }
    summary.totals = accounting.totals();
    summary.sizes = accounting.sizes();
    summary.lifetimes = accounting.lifetimes();
    summary.facts = reader.facts();
    summary.damage = reader.damage();
    summary.ticks_per_second = reader.header().ticks_per_second;
    summary.bad_lines = count_in(summary.facts, bad_lines_fact);
    return summary;
}

}  // namespace memsweep::trace
