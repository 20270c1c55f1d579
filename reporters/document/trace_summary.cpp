#include "reporters/document/trace_summary.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/document/trace_charts.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/wording/trace_words.hpp"

namespace memsweep::reporters {
namespace {

using trace::Histogram;
using trace::TraceSummary;

std::string count_text(std::uint64_t count)
{
    return base::format_count(static_cast<double>(count));
}

double seconds_between(const TraceSummary& summary, std::uint64_t from, std::uint64_t to)
{
    return static_cast<double>(to - from) / static_cast<double>(summary.ticks_per_second);
}

bool tells_time(const TraceSummary& summary)
{
    return summary.ticks_per_second != 0 && summary.totals.last_ticks > summary.totals.first_ticks;
}

Table totals_table(const TraceSummary& summary)
{
    const trace::Totals& totals = summary.totals;
    Table table{.title = "Totals", .columns = {Column::key("what"), Column::number("value")}};
    const auto row = [&](const std::string& name, const std::string& value) {
        table.rows.push_back({{name}, {value}});
    };
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
    if (summary.end_of_work) {
        row("live when the work was done", base::format_size(summary.end_of_work->live_bytes));
        row("blocks live when the work was done", count_text(summary.end_of_work->live_blocks));
        row("events until then", count_text(summary.end_of_work->events));
    }
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
    for (const trace::StatedTotal& total : summary.stated_totals) {
        if (total.stated != total.imported) {
            row(fmt::format("{}, by the log itself", inert_text(total.what)), count_text(total.stated));
        }
    }
    if (totals.peak_mapped_bytes != 0) {
        row("peak mapped bytes", base::format_size(totals.peak_mapped_bytes));
    }
    if (summary.thread_stacks.threads != 0) {
        row("threads' stacks, at most at a time", base::format_size(summary.thread_stacks.peak_bytes));
    }
    if (tells_time(summary)) {
        if (summary.end_of_work) {
            row("time until the work was done",
                base::format_duration(seconds_between(summary, totals.first_ticks,
                                                      std::max(summary.end_of_work->ticks, totals.first_ticks))));
        }
        row("time", base::format_duration(seconds_between(summary, totals.first_ticks, totals.last_ticks)));
    }
    return table;
}

using Processes = std::vector<const trace::ProcessSummary*>;

// The one that held the most first.
Processes largest_processes(const TraceSummary& summary)
{
    Processes processes;
    std::ranges::transform(summary.processes, std::back_inserter(processes), [](const auto& one) { return &one; });
    std::ranges::stable_sort(processes, std::greater{}, &trace::ProcessSummary::peak_live_bytes);
    return processes;
}

Table processes_table(const TraceSummary& summary)
{
    Table table{
        .title = "Processes", .note = "the one that held the most first", .columns = {Column::word_key("process")}};
    table.add_numbers({"peak live bytes", "live at its end", "bytes allocated", "allocations", "frees", "threads"});
    if (tells_time(summary)) {
        table.add_numbers({"begins", "lasts"});
    }
    for (const trace::ProcessSummary* process : largest_processes(summary)) {
        std::vector<Cell> row{{process_label(*process)},
                              {base::format_size(process->peak_live_bytes)},
                              {base::format_size(process->end_live_bytes)},
                              {base::format_size(process->bytes_allocated)},
                              {count_text(process->allocations)},
                              {count_text(process->frees)},
                              {count_text(process->threads)}};
        if (tells_time(summary)) {
            row.push_back(
                {base::format_duration(seconds_between(summary, summary.totals.first_ticks, process->first_ticks))});
            row.push_back({base::format_duration(seconds_between(summary, process->first_ticks, process->last_ticks))});
        }
        table.rows.push_back(std::move(row));
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
        table.rows.push_back({{text(trace::histogram_limit(place))},
                              {.text = count_text(counts[place]),
                               .share = static_cast<double>(counts[place]) / static_cast<double>(largest)},
                              {percent_text(static_cast<double>(counts[place]) / static_cast<double>(all))}});
    }
    return table;
}

Table mapping_modules_table(const TraceSummary& summary)
{
    Table table{.title = "Mapped by whom",
                .columns = {Column::key("code of"), Column::text("which is"), Column::number("mappings"),
                            Column::number("mapped"), Column::number("at most"), Column::number("at the end")}};
    for (const trace::MappingModule& one : summary.mapped_by) {
        table.rows.push_back({{one.path.empty() ? std::string{"no file that is known"} : inert_text(one.path)},
                              {one.is_allocator ? "the allocator" : "the program"},
                              {count_text(one.mapped.mappings)},
                              {base::format_size(one.mapped.bytes)},
                              {base::format_size(one.mapped.peak_bytes)},
                              {base::format_size(one.mapped.end_bytes)}});
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

std::string trace_headline(const TraceSummary& summary)
{
    const trace::Totals& totals = summary.totals;
    if (totals.allocations == 0) {
        return fmt::format("{}, and no allocation among them.", plural(totals.events, "event"));
    }
    const std::string at_end = totals.end_live_bytes == 0 ? std::string{"nothing is live at the end"}
                                                          : fmt::format("{} in {} are live at the end",
                                                                        base::format_size(totals.end_live_bytes),
                                                                        plural(totals.end_live_blocks, "block"));
    const std::string processes =
        summary.processes.size() < 2
            ? std::string{}
            : fmt::format(" {} processes; the most by one: {}, of {}.", count_text(summary.processes.size()),
                          base::format_size(largest_processes(summary)[0]->peak_live_bytes),
                          process_label(*largest_processes(summary)[0]));
    return fmt::format("{} are live at the peak; {}.{}", base::format_size(totals.peak_live_bytes), at_end, processes);
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

Document document(const trace::TraceSummary& summary)
{
    const auto source = summary.facts.find("command");
    Document document{.kicker = "memsweep info",
                      .title = inert_text(source == summary.facts.end() ? std::string{"Trace"} : source->second),
                      .description = "What a trace holds: live bytes over time, sizes, lifetimes, processes."};
    document.add(Opening{.headline = {trace_headline(summary), Tone::plain}});
    for (const auto& [name, value] : summary.facts) {
        document.add(Paragraph{fmt::format("{}: {}", name, value), Tone::muted});
    }
    for (const std::string& gap : gaps_of(summary.facts)) {
        document.add(Paragraph{sentence_of(gap), Tone::caution});
    }
    if (!summary.unrecorded.empty()) {
        document.add(Paragraph{
            fmt::format("{} ran without the recorder, and what {} allocated is not in this trace: {}",
                        plural(summary.unrecorded.size(), "program"), summary.unrecorded.size() == 1 ? "it" : "they",
                        inert_text(trace::describe(summary.unrecorded))),
            Tone::caution});
    }
    if (summary.totals.allocations != 0) {
        document.add(Charts{.title = "Pictures", .sections = [&] {
                                return std::vector{ChartSection{"", trace_charts(summary)}};
                            }});
        document.add(Heading{"Figures"}, Weight::appendix);
    }
    document.add(TableBlock{.table = totals_table(summary), .is_joined = true});
    if (summary.processes.size() > 1) {
        document.add(
            TableBlock{.table = processes_table(summary), .id = "processes", .is_sortable = true, .most_rows = 10});
    }
    if (summary.totals.allocations != 0) {
        document.add(
            TableBlock{.table = histogram_table("Sizes", "bytes of an allocation", summary.sizes, base::format_size)});
    }
    if (summary.totals.frees != 0) {
        document.add(
            TableBlock{.table = histogram_table("Lifetimes", "in allocations between a block's own and its free",
                                                summary.lifetimes, count_text)});
    }
    if (!summary.mapped_by.empty()) {
        document.add(TableBlock{.table = mapping_modules_table(summary), .id = "mapped_by", .most_rows = 10});
    }
    if (!summary.spaces.empty()) {
        document.add(TableBlock{.table = spaces_table(summary)});
    }
    return document;
}

}  // namespace memsweep::reporters
