// fleetbench's distributions of allocations: for each size, how many are made a second and how many are live. They are
// not the log of a program. The trace is drawn from them: blocks of a size live for an exponentially distributed time,
// whose mean is that of Little's law, number live over rate.
//
// The first events allocate a share of what is live at any time; allocations and frees follow in the order of their
// times. The seed is fixed, so that equal distributions make equal traces.
//
// Sources  google/fleetbench, its *_0.csv: "size, allocations a second, number live" a line.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <queue>
#include <vector>

#include <fmt/format.h>

#include "core/base/rng.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

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

class Drawing {
  public:
    Drawing(std::vector<SizeRate> sizes, ImportSink& sink, const ImportOptions& options)
        : sizes_{std::move(sizes)}, sink_{&sink}, max_live_{static_cast<double>(options.drawn_live)},
          events_{options.drawn_events}
    {
    }

    void run()
    {
        double live = 0;
        for (const SizeRate& one : sizes_) {
            live += one.live;
            rate_ += one.rate;
            rates_.push_back(rate_);
        }
        if (live <= 0 || rate_ <= 0) {
            return;
        }
        const double share = std::min(1.0, max_live_ / live);
        rate_ *= share;
        sink_->add({.kind = EventKind::label, .text = "drawn from fleetbench's distribution"});
        draw_live(share);
        draw_events(share);
    }

  private:
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

    // Fractions of a block add up from size to size.
    void draw_live(double share)
    {
        double due = 0;
        for (const SizeRate& one : sizes_) {
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

base::Expected<void> import_fleetbench(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    std::vector<SizeRate> sizes;
    import_lines(log, sink, [&](std::string_view line) -> const char* {
        const auto one = parse_size_rate(line);
        if (one) {
            sizes.push_back(*one);
        }
        return one || trimmed(line).empty() ? nullptr : "expected \"SIZE, ALLOCATIONS A SECOND, NUMBER LIVE\"";
    });
    Drawing{std::move(sizes), sink, options}.run();
    return {};
}

}  // namespace

ImportFormat fleetbench_format()
{
    return {"fleetbench", "fleetbench's size, rate and number live, CSV: a trace drawn from them", ns_ticks,
            is_fleetbench, import_fleetbench};
}

}  // namespace memsweep::trace
