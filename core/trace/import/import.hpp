// Imports the logs of other tools as traces.
//
// Cost     text logs are read at some hundred MB/s, Umpire's lines of JSON at some 90 MB/s.
// Memory   for logs that are read line by line: the live blocks, the stacks and 1 MiB. A PyTorch snapshot is kept in
//          memory as a whole.
// Errors   invalid_input: the format is unknown; the log has another format; a line or a sequence of zero bytes is too
//          long; or the sum of the sizes exceeds 64 bits. A bad line is no error: it is counted and left out. A last
//          line without a newline counts as bad, because a number in it may be cut off, unless the text of the line
//          shows that it is complete.
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
    std::uint64_t number{};  // number of the line, from 1; in a binary log, of the record
    std::string reason;
};
inline constexpr std::size_t named_bad_lines = 5;

// Says which of several possible blocks a free releases, if the log does not tell: the newest, the oldest, or any.
enum class FreeOrder { lifo, fifo, random };

struct ImportOptions {
    std::string name;  // the log's name, for messages; the name of an RMM log also tells the device
    FreeOrder free_order{FreeOrder::lifo};
    std::optional<std::uint64_t> uid;   // imports only this process; for logs of several processes
    std::uint64_t drawn_live{100'000};  // for a trace drawn from a distribution: how many blocks are live at the start
    std::uint64_t drawn_events{1'000'000};  // for such a trace: how many events follow
};

// Takes the events that an importer finds in a log: writes the events to a trace, and keeps their totals.
class ImportSink {
  public:
    explicit ImportSink(TraceWriter& writer) : writer_{&writer} {}

    // Limits the memory of an import. After this call, `log` ends as soon as the live blocks and the importer's own
    // data exceed what is allowed for a log of its size (bounds.hpp).
    void watch(LogText& log) { log_ = &log; }
    // Says how much data the importer itself keeps now, in "things" (bounds.hpp). A live block is one thing.
    void hold(std::uint64_t things);

    // Adds an event. An allocation of one byte or more that has the address 0 becomes a failed allocation.
    void add(Event event);
    // Returns the stack whose innermost frame is `address` and whose other frames are the stack `caller`. Use the
    // result as an event's `stack`. If `caller` is 0, the stack has only `address`. If the log's size allows no more
    // stacks (bounds.hpp), returns `caller`, and adds a fact that says that inner frames are missing.
    [[nodiscard]] std::uint32_t stack(std::uint32_t caller, std::uint64_t address);
    // Says which source frames an address stands for, the innermost first. Call it one time for each address.
    void name_address(std::uint64_t address, std::string_view module, std::span<const SourceFrame> frames);
    void define_space(std::uint32_t space, SpaceKind kind, std::uint32_t device, std::string_view name);
    void bad(std::uint64_t number, std::string_view reason);
    // Counts a ghost: a block that was already live when the log began.
    void count_ghost() noexcept { ++ghosts_; }
    void state_total(std::string what, std::uint64_t stated, std::uint64_t imported)
    {
        stated_totals_.push_back({std::move(what), stated, imported});
    }
    // Adds a fact about the log to the trace. Use it for facts that the log's events do not show.
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
    std::uint64_t ghosts_{};
    std::vector<StatedTotal> stated_totals_;
    Facts facts_;
};

struct ImportFormat {
    std::string_view name;
    std::string_view help;
    std::uint64_t ticks_per_second{};  // of the stamps that the importer gives; 0: stamps do not tell the time
    bool (*looks_like)(std::string_view head);
    base::Expected<void> (*import)(LogText& log, ImportSink& sink, const ImportOptions& options);
};

// The formats that can be imported.
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

// Finds a format by its name. If `name` is empty, finds the format by `head`, the first bytes of the log.
[[nodiscard]] base::Expected<const ImportFormat*> find_import_format(std::string_view name, std::string_view head,
                                                                     const std::string& log_name);

// Imports the whole log. Returns invalid_input, among other reasons, if the log has no event, and either has bad lines
// or does not begin like a log of this format. The message of this error names the formats that the log could have.
[[nodiscard]] base::Expected<void> import_log(const ImportFormat& format, LogText& log, ImportSink& sink,
                                              const ImportOptions& options);
inline constexpr std::size_t log_head_bytes = 4096;  // how many first bytes of a log serve to recognise its format

// ---- for importers ----

inline constexpr std::uint64_t ns_ticks = 1'000'000'000;  // ticks per second of a clock that counts nanoseconds

// Returns a made-up address for block number `number`, for logs that do not tell addresses. It is never 0.
[[nodiscard]] constexpr std::uint64_t made_address(std::uint64_t number)
{
    constexpr std::uint64_t spacing = 16;
    return (number + 1) * spacing;
}

// The name that a log uses for a kind of event.
struct LoggedAction {
    std::string_view name;
    EventKind kind{};
};
[[nodiscard]] std::optional<EventKind> kind_of(std::span<const LoggedAction> actions, std::string_view name);
// Sets the kind of an event. For a free it also sets the size to 0. For a failed allocation it also sets the address to
// 0. What the log says about them is ignored.
void set_kind(Event& event, EventKind kind);

// Reads a log line by line. Returns invalid_input if a line is longer than LogText::max_line_bytes. `Lines` is a class
// of the caller. import_lines() makes an object Lines{sink, options}, and calls these members of it:
// - add(line): imports a line; returns why the line is bad, or nullptr.
// - finish(), optional: called at the end of the log; returns why the log's end is bad, or nullptr.
// - is_whole(line), static and optional: called for a last line without a newline; says whether the line's text shows
//   that nothing is missing.
template <typename Lines>
base::Expected<void> import_lines(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    Lines lines{sink, options};
    std::string_view line;
    constexpr std::uint64_t most_lines_before_an_event = 10'000'000;  // some logs begin with other output
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
