#include "reporters/document/trace_summary.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::reporters {
namespace {

using trace::Histogram;
using trace::TraceSummary;

std::string count_text(std::uint64_t count)
{
    return base::format_count(static_cast<double>(count));
}

Table totals_table(const TraceSummary& summary)
{
    const trace::Totals& totals = summary.totals;
    Table table{.title = "Totals", .columns = {Column::key("what"), Column::number("value")}};
    const auto row = [&](const char* name, const std::string& value) { table.rows.push_back({{name}, {value}}); };
    row("events", count_text(totals.events));
    row("processes", count_text(totals.processes));
    row("threads", count_text(totals.threads));
    row("allocations", count_text(totals.allocations));
    row("frees", count_text(totals.frees));
    row("reallocations", count_text(totals.reallocations));
    row("bytes allocated", base::format_size(totals.bytes_allocated));
    row("largest allocation", base::format_size(totals.max_size));
    row("peak live bytes", base::format_size(totals.peak_live_bytes));
    row("peak live blocks", count_text(totals.peak_live_blocks));
    row("live at the end", base::format_size(totals.end_live_bytes));
    row("blocks live at the end", count_text(totals.end_live_blocks));
    const auto row_unless_zero = [&](const char* name, std::uint64_t count) {
        if (count != 0) {
            row(name, count_text(count));
        }
    };
    row_unless_zero("transfers", totals.transfers);
    row_unless_zero("failed allocations", totals.failures);
    row_unless_zero("frees of unknown blocks", totals.unknown_frees);
    row_unless_zero("allocations at a live block's place", totals.duplicate_allocations);
    row_unless_zero("bad lines in the log", summary.bad_lines);
    if (totals.peak_mapped_bytes != 0) {
        row("peak mapped bytes", base::format_size(totals.peak_mapped_bytes));
    }
    if (summary.ticks_per_second != 0 && totals.last_ticks > totals.first_ticks) {
        row("time", base::format_duration(static_cast<double>(totals.last_ticks - totals.first_ticks) /
                                          static_cast<double>(summary.ticks_per_second)));
    }
    return table;
}

Table histogram_table(const std::string& title, const std::string& note, const Histogram& counts,
                      std::string (*text)(std::uint64_t))
{
    Table table{.title = title,
                .note = note,
                .columns = {Column::key("up to"), Column::number("blocks"), Column::number("share")}};
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts) {
        all += count;
    }
    const std::uint64_t largest = *std::ranges::max_element(counts);
    for (std::size_t place = 0; place < counts.size(); ++place) {
        if (counts[place] == 0) {
            continue;
        }
        const std::uint64_t limit = place == 0 ? 0 : place == 64 ? ~0ULL : (1ULL << place) - 1;
        table.rows.push_back({{text(limit)},
                              {.text = count_text(counts[place]),
                               .share = static_cast<double>(counts[place]) / static_cast<double>(largest)},
                              {percent_text(static_cast<double>(counts[place]) / static_cast<double>(all))}});
    }
    return table;
}

Table spaces_table(const TraceSummary& summary)
{
    Table table{.title = "Memories", .columns = {Column::key("name"), Column::text("kind"), Column::number("device")}};
    for (const auto& [index, space] : summary.spaces) {
        table.rows.push_back({{space.name}, {std::string{name_of(space.kind)}}, {count_text(space.device)}});
    }
    return table;
}

}  // namespace

std::string damage_text(const trace::Damage& damage)
{
    std::vector<std::string> parts;
    if (damage.corrupted_chunks != 0) {
        parts.push_back(plural(damage.corrupted_chunks, "chunk") + " damaged and left out");
    }
    if (damage.missing_chunks != 0) {
        parts.push_back(plural(damage.missing_chunks, "chunk") + " missing");
    }
    if (damage.skipped_bytes != 0) {
        parts.push_back(fmt::format("{} skipped", plural(damage.skipped_bytes, "byte")));
    }
    if (damage.truncated) {
        parts.emplace_back("the file ends within a chunk");
    }
    return listed(parts, "; ");
}

Document document(const trace::TraceSummary& summary, const Audience& /*all of them read the same*/)
{
    Document document{.kicker = "memsweep info", .title = "Trace"};
    for (const auto& [name, value] : summary.facts) {
        document.add(Paragraph{fmt::format("{}: {}", name, value), Tone::muted});
    }
    document.add(TableBlock{.table = totals_table(summary), .is_joined = true});
    if (summary.totals.allocations != 0) {
        document.add(
            TableBlock{.table = histogram_table("Sizes", "bytes of an allocation", summary.sizes, base::format_size)});
    }
    if (summary.totals.frees != 0) {
        document.add(
            TableBlock{.table = histogram_table("Lifetimes", "in allocations between a block's own and its free",
                                                summary.lifetimes, count_text)});
    }
    if (!summary.spaces.empty()) {
        document.add(TableBlock{.table = spaces_table(summary)});
    }
    return document;
}

}  // namespace memsweep::reporters
