// fleetbench's distributions of allocations: per size how many a second are made, and how many are live. They are no
// log of one program; the trace drawn from them is one that has them: blocks of a size live as long on average as
// Little's law says, number live over rate, each exponentially distributed.
//
// The first events bring what is live at any time, of all sizes one in so many; then allocations and frees follow in
// the order of their times. Drawn from a fixed seed: equal distributions make equal traces.
// Sources  google/fleetbench, its *_0.csv: "size, allocations a second, number live" a line.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <queue>
#include <vector>

#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "core/trace/import/fields.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t largest_size = 1ULL << 50U;
constexpr std::uint64_t spacing = 16;
constexpr std::uint64_t seed = 1;

struct SizeOf {
    std::uint64_t size{};
    double rate{};  // allocations a second
    double live{};
};

std::optional<double> real(std::string_view text)
{
    double value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = problem == std::errc{} && end == text.data() + text.size();
    return whole && std::isfinite(value) && value >= 0 && value < 1e18 ? std::optional{value} : std::nullopt;
}

std::optional<SizeOf> read_line(std::string_view line)
{
    const auto size = real(trimmed(take_until(line, ',')));
    const auto rate = real(trimmed(take_until(line, ',')));
    const auto live = real(trimmed(line));
    if (!size || !rate || !live || *size > static_cast<double>(largest_size)) {
        return std::nullopt;
    }
    return SizeOf{static_cast<std::uint64_t>(*size), *rate, *live};
}

class Drawing {
  public:
    Drawing(std::vector<SizeOf> sizes, ImportSink& sink, const ImportOptions& options)
        : sizes_{std::move(sizes)}, sink_{&sink}, most_live_{static_cast<double>(options.drawn_live)},
          events_{options.drawn_events}
    {
    }

    void run()
    {
        double live = 0;
        for (const SizeOf& one : sizes_) {
            live += one.live;
            rate_ += one.rate;
            rates_.push_back(rate_);
        }
        if (live <= 0 || rate_ <= 0) {
            return;
        }
        const double share = std::min(1.0, most_live_ / live);
        rate_ *= share;
        sink_->add({.kind = EventKind::label, .text = "drawn from fleetbench's distribution"});
        draw_live(share);
        draw_events(share);
    }

  private:
    struct Death {
        double time{};
        std::uint64_t address{};
        bool operator>(const Death& other) const { return time > other.time; }
    };

    // In [0, 1), and never so near to 1 that its logarithm is infinite.
    double uniform() { return static_cast<double>(random_.next() >> 11U) * 0x1p-53; }
    double exponential(double mean) { return -mean * std::log1p(-uniform()); }

    void allocate(const SizeOf& one, double now)
    {
        const std::uint64_t address = take_address();
        sink_->add({.kind = EventKind::malloc, .address = address, .size = one.size, .ticks = ticks(now)});
        // What is never allocated while it is live never dies.
        if (one.rate > 0) {
            deaths_.push({now + exponential(one.live / one.rate), address});
        }
    }

    // Fractions of a block add up from size to size.
    void draw_live(double share)
    {
        double due = 0;
        for (const SizeOf& one : sizes_) {
            for (due += one.live * share; due >= 1; due -= 1) {
                allocate(one, 0);
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
                sink_->add({.kind = EventKind::free, .address = death.address, .ticks = ticks(death.time)});
                unused_.push_back(death.address);
                continue;
            }
            const auto at = std::ranges::upper_bound(rates_, uniform() * rate_ / share);
            const auto index = std::min<std::ptrdiff_t>(at - rates_.begin(), std::ssize(rates_) - 1);
            allocate(sizes_[static_cast<std::size_t>(index)], birth);
            birth += exponential(1 / rate_);
        }
    }

    std::uint64_t take_address()
    {
        if (unused_.empty()) {
            return next_ += spacing;
        }
        const std::uint64_t address = unused_.back();
        unused_.pop_back();
        return address;
    }

    static std::uint64_t ticks(double seconds) { return static_cast<std::uint64_t>(std::min(seconds, 1e9) * 1e9); }

    std::vector<SizeOf> sizes_;
    ImportSink* sink_;
    double most_live_;
    std::uint64_t events_;
    std::vector<double> rates_;  // sums
    double rate_{};
    base::Rng random_{seed};
    std::priority_queue<Death, std::vector<Death>, std::greater<>> deaths_;
    std::vector<std::uint64_t> unused_;
    std::uint64_t next_{};
};

}  // namespace

base::Expected<void> import_fleetbench(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    std::vector<SizeOf> sizes;
    std::string_view line;
    while (log.line(line)) {
        if (const auto one = read_line(line)) {
            sizes.push_back(*one);
        } else if (!trimmed(line).empty()) {
            sink.bad(log.line_number(), "not \"SIZE, ALLOCATIONS A SECOND, NUMBER LIVE\"");
        }
    }
    Drawing{std::move(sizes), sink, options}.run();
    return {};
}

}  // namespace memsweep::trace
