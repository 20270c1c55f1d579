// Imports the logs of other tools as traces.
//
// Cost     a text log at some hundred MB/s; Umpire's lines of JSON at some 90.
// Memory   bounded for logs that are read line by line: the live blocks, the stacks and a MiB. A PyTorch snapshot is
//          held in memory.
// Errors   invalid_input: the format is unknown, or the log is not of its format; a line or a stretch of zeroes is too
//          long; or sizes add up to more than 64 bits. A bad line is counted and left out. A last line without a
//          newline is bad unless its text shows that it is whole: a number that was cut off still looks like a number.
// Threads  one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/trace/import/log_text.hpp"
#include "core/trace/stack_writer.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

struct BadLine {
    std::uint64_t number{};  // from 1; of a binary log, the record
    std::string reason;
};
inline constexpr std::size_t named_bad_lines = 5;

// Which block is freed if the log does not tell them apart.
enum class FreeOrder { lifo, fifo, random };

struct ImportOptions {
    std::string name;  // the log's, for messages; RMM's names its device
    FreeOrder free_order{FreeOrder::lifo};
    std::optional<std::uint64_t> uid;       // only this process of a log that holds several
    std::uint64_t drawn_live{100'000};      // for a distribution: blocks that are live at the beginning
    std::uint64_t drawn_events{1'000'000};  // for a distribution: events drawn after them
};

// Writes the events that importers find, and accounts for them.
class ImportSink {
  public:
    explicit ImportSink(TraceWriter& writer) : writer_{&writer} {}

    // Ends the log if its events and its importer together hold more than the log's bytes allow.
    void watch(LogText& log) { log_ = &log; }
    // Says how much the importer holds, in the unit of bounds.hpp: "things", of which a live block is one.
    void hold(std::uint64_t things);

    // Adds an event. An allocation of some bytes that returned nothing becomes a failed one.
    void add(Event event);
    // The stack made of this address and the caller's stack, for an event's `stack`. A caller of 0 begins a stack. If
    // no more stacks may be held, the result is the caller's: then inner frames are missing, and a fact says so.
    [[nodiscard]] std::uint32_t stack(std::uint32_t caller, std::uint64_t address);
    // Names an address, innermost frame first. Call it once for each address.
    void name_address(std::uint64_t address, std::string_view module, std::span<const SourceFrame> frames);
    void define_space(std::uint32_t space, SpaceKind kind, std::uint32_t device, std::string_view name);
    void bad(std::uint64_t number, std::string_view reason);
    void count_ghost() noexcept { ++ghosts_; }
    void state_total(std::string what, std::uint64_t stated, std::uint64_t imported)
    {
        stated_totals_.push_back({std::move(what), stated, imported});
    }
    // States something about the log that its events do not show.
    void state_fact(const std::string& name, std::string value) { facts_[name] = std::move(value); }

    [[nodiscard]] const Accounting& accounting() const noexcept { return accounting_; }
    [[nodiscard]] std::uint64_t bad_lines() const noexcept { return bad_lines_; }
    [[nodiscard]] const std::vector<BadLine>& first_bad_lines() const noexcept { return first_bad_lines_; }
    [[nodiscard]] std::uint64_t ghosts() const noexcept { return ghosts_; }
    [[nodiscard]] const std::vector<StatedTotal>& stated_totals() const noexcept { return stated_totals_; }
    [[nodiscard]] const Facts& facts() const noexcept { return facts_; }

  private:
    TraceWriter* writer_;
    LogText* log_{};
    std::uint64_t held_by_importer_{};
    Accounting accounting_;
    std::vector<BadLine> first_bad_lines_;
    std::uint64_t bad_lines_{};
    std::uint64_t ghosts_{};  // blocks that were live before the log begins
    std::vector<StatedTotal> stated_totals_;
    Facts facts_;
};

struct ImportFormat {
    std::string_view name;
    std::string_view help;
    std::uint64_t ticks_per_second{};  // unit of the stamps that its importer gives; 0: they tell no time
    bool (*looks_like)(std::string_view head);
    base::Expected<void> (*import)(LogText& log, ImportSink& sink, const ImportOptions& options);
};

// The importers: what their logs look like, and how they are read.
extern const ImportFormat dj_mtrace_format;
extern const ImportFormat fleetbench_format;
extern const ImportFormat heaptrack_format;
extern const ImportFormat malloc_bench_format;
extern const ImportFormat mtrace_format;
extern const ImportFormat pytorch_format;
extern const ImportFormat rmm_format;
extern const ImportFormat umpire_format;
extern const ImportFormat valgrind_format;

[[nodiscard]] std::span<const ImportFormat> import_formats();

// Finds a format by its name, or by the first bytes of the log.
[[nodiscard]] base::Expected<const ImportFormat*> find_import_format(std::string_view name, std::string_view head,
                                                                     const std::string& log_name);

// Imports the whole log. invalid_input: the log is not of this format, because it has no event, and has bad lines or a
// beginning unlike this format's. The message names the formats that it could be.
[[nodiscard]] base::Expected<void> import_log(const ImportFormat& format, LogText& log, ImportSink& sink,
                                              const ImportOptions& options);
inline constexpr std::size_t log_head_bytes = 4096;  // formats are recognised by these

// ---- for importers ----

inline constexpr std::uint64_t ns_ticks = 1'000'000'000;  // per second

// A made-up address, for logs that number their blocks or do not say where they lie. Never 0.
[[nodiscard]] constexpr std::uint64_t made_address(std::uint64_t number)
{
    constexpr std::uint64_t spacing = 16;
    return (number + 1) * spacing;
}

// What a log calls a kind of event.
struct LoggedAction {
    std::string_view name;
    EventKind kind{};
};
[[nodiscard]] std::optional<EventKind> kind_of(std::span<const LoggedAction> actions, std::string_view name);
// Sets the kind. A free then has no size, and a failed allocation no address, whatever the log says in these columns.
void set_kind(Event& event, EventKind kind);

// Reads a log line by line. A log with a line of more than LogText::max_line_bytes is refused. Lines{sink, options} has
// add(line), which returns why the line is bad, or nullptr. It may have finish(), which does the same for the end of
// the log. It may have is_whole(line) for a last line without a newline: whether its text shows that nothing is
// missing.
template <typename Lines>
base::Expected<void> import_lines(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    Lines lines{sink, options};
    std::string_view line;
    constexpr std::uint64_t most_lines_before_an_event = 10'000'000;  // some logs have other output in front
    while (log.line(line) &&
           (log.line_number() < most_lines_before_an_event || sink.accounting().counts().events != 0)) {
        const LogText::LineEnd end = log.how_it_ended();
        if (end == LogText::LineEnd::too_long) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("line {} is longer than {}: no log has such lines", log.line_number(),
                                          base::exact_size(LogText::max_line_bytes)),
                              options.name);
        }
        bool is_whole = end == LogText::LineEnd::newline || trimmed(line).empty();
        if constexpr (requires { Lines::is_whole(line); }) {
            is_whole = is_whole || Lines::is_whole(trimmed(line));
        }
        if (!is_whole) {
            sink.bad(log.line_number(), "the last line has no newline: it may be cut off");
        } else if (const char* const reason = lines.add(line)) {
            sink.bad(log.line_number(), reason);
        }
    }
    if (sink.accounting().counts().events == 0 && log.line_number() >= most_lines_before_an_event) {
        sink.bad(log.line_number(), "no event up to here: what follows is not read");
    }
    if constexpr (requires { lines.finish(); }) {
        if (const char* const reason = lines.finish()) {
            sink.bad(log.line_number(), reason);
        }
    }
    return {};
}

}  // namespace memsweep::trace
