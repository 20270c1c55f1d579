// What allocator benchmarks feed on: malloc-bench's tracefiles, and fleetbench's distributions.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/rng.hpp"
#include "core/trace/format/varint.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

constexpr std::size_t max_message_bytes = 4096;

bool is_malloc_bench(std::string_view head)
{
    return head.size() > 3 && head[0] == '\x0A' &&
           (head[2] == '\x0A' || head[2] == '\x12' || head[2] == '\x1A' || head[2] == '"');
}

// Protocol Buffers on the wire: a varint of number and type, then a varint or a length and bytes.
class ProtobufFields {
  public:
    explicit ProtobufFields(std::string_view message)
        : at_{reinterpret_cast<const std::uint8_t*>(message.data())}, end_{at_ + message.size()}
    {
    }

    bool next()
    {
        std::uint64_t tag{};
        if (at_ == end_ || !number(tag)) {
            return false;
        }
        field = tag >> 3U;
        bytes = {};
        value = 0;
        if ((tag & 7U) == 0) {
            return number(value);
        }
        std::uint64_t length{};
        if ((tag & 7U) != 2 || !number(length) || length > static_cast<std::uint64_t>(end_ - at_)) {
            return fail();
        }
        bytes = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(length)};
        at_ += length;
        return true;
    }
    [[nodiscard]] bool failed() const { return failed_; }

    std::uint64_t field{};
    std::uint64_t value{};
    std::string_view bytes;

  private:
    bool number(std::uint64_t& read)
    {
        const std::uint8_t* after = get_varint(at_, end_, read);
        at_ = after != nullptr ? after : at_;
        return after != nullptr || fail();
    }
    bool fail()
    {
        failed_ = true;
        return false;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool failed_{};
};

// An id that is left out is the null pointer.
std::uint64_t address_of_id(std::optional<std::uint64_t> id)
{
    return id ? made_address(*id) : 0;
}

using Operands = std::array<std::optional<std::uint64_t>, 4>;  // by the numbers of their fields, from 1

bool read_operands(std::string_view bytes, Operands& operands)
{
    ProtobufFields fields{bytes};
    while (fields.next()) {
        if (fields.field < operands.size()) {
            operands.at(fields.field) = fields.value;
        }
    }
    return !fields.failed();
}

bool add_message(std::string_view line, ImportSink& sink)
{
    ProtobufFields fields{line};
    if (!fields.next() || fields.field < 1 || fields.field > 4) {
        return false;
    }
    const std::uint64_t operation = fields.field;
    Operands operands;
    if (!read_operands(fields.bytes, operands)) {
        return false;
    }
    const std::uint64_t address = address_of_id(operands[1]);
    const std::uint64_t second = operands[2].value_or(0);
    const std::uint64_t third = operands[3].value_or(0);
    if (operation == 1) {
        const EventKind kind = third != 0 ? EventKind::aligned_alloc : EventKind::malloc;
        sink.add({.kind = kind, .address = address, .size = second, .alignment = third});
    } else if (operation == 2) {
        sink.add({.kind = EventKind::free, .address = address});
    } else if (operation == 3) {
        const std::uint64_t old = address_of_id(operands[2]);
        sink.add({.kind = EventKind::realloc, .address = address, .old_address = old, .size = third});
    } else {
        const auto size = base::checked_mul(second, third);
        if (!size) {
            return false;
        }
        sink.add({.kind = EventKind::calloc, .address = address, .size = *size});
    }
    return true;
}

// A varint from the log itself; nullopt at its end.
std::optional<std::uint64_t> read_varint(LogText& log)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::string_view byte = log.bytes(1);
        if (byte.empty()) {
            return std::nullopt;
        }
        value |= (static_cast<std::uint64_t>(byte[0]) & 0x7FU) << shift;
        if ((static_cast<unsigned char>(byte[0]) & 0x80U) == 0) {
            return value;
        }
    }
    return std::nullopt;
}

// Against the number of blocks live at once with which a log ends.
void check_declared(std::optional<std::uint64_t> most_live, std::uint64_t line_number, ImportSink& sink)
{
    const std::uint64_t found = sink.accounting().totals().peak_live_blocks;
    if (!most_live && line_number > 1) {
        sink.bad(line_number, "the number of live blocks that ends the log is missing: it may be cut off");
    } else if (most_live && *most_live < found) {
        sink.bad(line_number, "more blocks are live at once than the log declares");
    } else if (most_live && *most_live > found) {
        sink.bad(line_number, "fewer blocks are live at once than the log declares: lines may be missing");
    }
}

base::Expected<void> import_malloc_bench(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    std::optional<std::uint64_t> most_live;  // as the log declares it, behind its lines
    for (std::uint64_t line_number = 1;; ++line_number) {
        if (log.peek(1).empty()) {
            check_declared(most_live, line_number, sink);
            return {};
        }
        const auto tag = read_varint(log);
        const auto value = tag ? read_varint(log) : std::nullopt;
        if ((!tag || !value) && line_number > 1 && log.peek(1).empty()) {
            sink.bad(line_number, "cut off");
            return {};
        }
        if (tag == ((2U << 3U) | 0U) && value) {
            most_live = value;
            continue;
        }
        if (tag != ((1U << 3U) | 2U) || !value || *value > max_message_bytes) {
            return base::fail(base::ErrorCode::invalid_input, "not a Tracefile of malloc-bench, or damaged",
                              options.name);
        }
        const std::string_view line = log.bytes(*value);
        if (line.size() < *value) {
            sink.bad(line_number, "cut off");
            return {};
        }
        if (!add_message(line, sink)) {
            sink.bad(line_number, "unknown operation");
        }
    }
}

// fleetbench's distributions of allocations: for each size, how many are made a second and how many are live. They are
// not the log of a program. The trace is drawn from them: blocks of a size live for an exponentially distributed time,
// whose mean is that of Little's law, number live over rate.
//
// The first events allocate a share of what is live at any time; allocations and frees follow in the order of their
// times. The seed is fixed, so that equal distributions make equal traces.
//
// Sources  google/fleetbench, its *_0.csv: "size, allocations a second, number live" a line.
constexpr std::uint64_t max_drawn_size = 1ULL << 50U;
constexpr std::uint64_t drawing_seed = 1;

struct SizeRate {
    std::uint64_t size{};
    double rate{};  // allocations a second
    double live{};
};

std::optional<double> parse_real(std::string_view text)
{
    double value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = problem == std::errc{} && end == text.data() + text.size();
    return whole && std::isfinite(value) && value >= 0 && value < 1e18 ? std::optional{value} : std::nullopt;
}

std::optional<SizeRate> parse_size_rate(std::string_view line)
{
    const auto size = parse_real(trimmed(take_until(line, ',')));
    const auto rate = parse_real(trimmed(take_until(line, ',')));
    const auto live = parse_real(trimmed(line));
    if (!size || !rate || !live || *size > static_cast<double>(max_drawn_size)) {
        return std::nullopt;
    }
    return SizeRate{static_cast<std::uint64_t>(*size), *rate, *live};
}

// A size, a rate with a decimal point and a number live with another.
bool is_fleetbench(std::string_view head)
{
    const std::string_view line = first_line(head);
    return !line.empty() && line.find_first_not_of("0123456789.eE+-, \r") == std::string_view::npos &&
           std::ranges::count(line, ',') == 2 && line.find('.') != std::string_view::npos;
}

// Draws when the whole distribution is known.
class FleetbenchLines {
  public:
    FleetbenchLines(ImportSink& sink, const ImportOptions& options)
        : sink_{&sink}, max_live_{static_cast<double>(options.drawn_live)}, events_{options.drawn_events}
    {
    }

    const char* add(std::string_view line)
    {
        const auto one = parse_size_rate(line);
        if (one) {
            sizes_.push_back(*one);
            sink_->hold(things_of_a_size * sizes_.size());
        }
        return one || trimmed(line).empty() ? nullptr : "expected \"SIZE, ALLOCATIONS A SECOND, NUMBER LIVE\"";
    }

    const char* finish()
    {
        double live = 0;
        for (const SizeRate& one : sizes_) {
            live += one.live;
            rate_ += one.rate;
            rates_.push_back(rate_);
        }
        if (live <= 0 || rate_ <= 0) {
            return nullptr;
        }
        const double share = std::min(1.0, max_live_ / live);
        rate_ *= share;
        sink_->add({.kind = EventKind::label, .text = "drawn from fleetbench's distribution"});
        draw_live(share);
        draw_events(share);
        return nullptr;
    }

  private:
    static constexpr std::uint64_t things_of_a_size = 2;  // with what is drawn of it

    struct Death {
        double time{};
        std::uint32_t block{};
        bool operator>(const Death& other) const { return time > other.time; }
    };

    // In [0, 1), and never so near to 1 that its logarithm is infinite.
    double uniform() { return static_cast<double>(random_.next() >> 11U) * 0x1p-53; }
    double exponential(double mean) { return -mean * std::log1p(-uniform()); }

    void allocate(const SizeRate& one, double now)
    {
        const std::uint32_t block = blocks_.take();
        sink_->add({.kind = EventKind::malloc, .address = made_address(block), .size = one.size, .ticks = ticks(now)});
        // What is never allocated while it is live never dies.
        if (one.rate > 0) {
            deaths_.push({now + exponential(one.live / one.rate), block});
        }
    }

    // Whole blocks by largest remainder: a size gets what is expected of it, rounded down or up.
    void draw_live(double share)
    {
        std::vector<std::uint64_t> counts;
        std::vector<std::pair<double, std::size_t>> remainders;  // negative, so that the largest comes first
        double expected = 0;
        std::uint64_t whole = 0;
        for (const SizeRate& one : sizes_) {
            const double due = one.live * share;
            counts.push_back(static_cast<std::uint64_t>(due));
            remainders.emplace_back(std::floor(due) - due, counts.size() - 1);
            expected += due;
            whole += counts.back();
        }
        const auto wanted = static_cast<std::uint64_t>(std::llround(expected));
        const std::uint64_t missing = std::min<std::uint64_t>(wanted > whole ? wanted - whole : 0, remainders.size());
        std::ranges::sort(remainders);
        for (const auto& [remainder, at] : std::span{remainders}.first(static_cast<std::size_t>(missing))) {
            ++counts[at];
        }
        for (std::size_t at = 0; at < sizes_.size(); ++at) {
            for (std::uint64_t i = 0; i < counts[at]; ++i) {
                allocate(sizes_[at], 0);
            }
        }
    }

    void draw_events(double share)
    {
        double birth = exponential(1 / rate_);
        for (std::uint64_t i = 0; i < events_; ++i) {
            if (!deaths_.empty() && deaths_.top().time < birth) {
                const Death death = deaths_.top();
                deaths_.pop();
                sink_->add({.kind = EventKind::free, .address = made_address(death.block), .ticks = ticks(death.time)});
                blocks_.give_back(death.block);
                continue;
            }
            const auto at = std::ranges::upper_bound(rates_, uniform() * rate_ / share);
            const auto index = std::min<std::ptrdiff_t>(at - rates_.begin(), std::ssize(rates_) - 1);
            allocate(sizes_[static_cast<std::size_t>(index)], birth);
            birth += exponential(1 / rate_);
        }
    }

    static std::uint64_t ticks(double seconds) { return static_cast<std::uint64_t>(std::min(seconds, 1e9) * 1e9); }

    std::vector<SizeRate> sizes_;
    ImportSink* sink_;
    double max_live_;
    std::uint64_t events_;
    std::vector<double> rates_;  // sums
    double rate_{};
    base::Rng random_{drawing_seed};
    std::priority_queue<Death, std::vector<Death>, std::greater<>> deaths_;
    RecycledNumbers blocks_;
};

}  // namespace

constinit const ImportFormat malloc_bench_format{"malloc-bench", "malloc-bench, protobuf", 0, is_malloc_bench,
                                                 import_malloc_bench};
constinit const ImportFormat fleetbench_format{"fleetbench",
                                               "fleetbench's size, rate and number live, CSV: a trace drawn from them",
                                               ns_ticks, is_fleetbench, import_lines<FleetbenchLines>};

}  // namespace memsweep::trace
