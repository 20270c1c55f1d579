#include "core/sys/machine_measures.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/base/rng.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::sys {
namespace {

constexpr std::uint64_t copied_bytes = 4U << 20;

// Each step needs the one before: neither a vector unit nor a second core can shorten it.
std::uint64_t compute() noexcept
{
    constexpr int steps = 400'000;  // about 1 ms
    std::uint64_t state = 0x9E3779B97F4A7C15;
    for (int i = 0; i < steps; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

// Touched, and with data in it: zeroes are written faster than anything else by some processors.
base::Expected<Mapping> memory_to_copy()
{
    auto memory = Mapping::anonymous(2 * copied_bytes);
    if (memory) {
        constexpr std::uint64_t seed = 4;
        base::Rng{seed}.fill({memory->data(), memory->size()});
    }
    return memory;
}

struct ProcessorTime {
    std::uint64_t steal{};
    std::uint64_t all{};
};

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice": guest time is in user time already.
std::optional<ProcessorTime> processor_time(const std::string& root)
{
    constexpr int counted = 8;
    const std::string text = read_kernel_text(root + "proc/stat").value_or("");
    std::string_view rest = text;
    std::string_view line = take_line(rest);
    if (take_word(line) != "cpu") {
        return std::nullopt;
    }
    ProcessorTime time;
    for (int i = 0; i < counted; ++i) {
        const auto ticks = base::parse_number(take_word(line));
        if (!ticks) {
            return std::nullopt;
        }
        time.all += *ticks;
        time.steal = *ticks;
    }
    return time;
}

}  // namespace

CanaryReadings run_canary(const Clock& clock, const CanaryLimits& limits, const std::string& root)
{
    const std::string top = with_slash(root);
    CanaryReadings readings;
    const auto memory = memory_to_copy();
    volatile std::uint64_t result = compute();  // warm, and never optimised away
    const auto before = processor_time(top);
    const auto begin = clock.now();
    for (int i = 0; i < limits.rounds && (i < limits.fewest_rounds || clock.now() - begin < limits.time); ++i) {
        const auto start = clock.now();
        result = compute();
        const auto computed = clock.now();
        readings.compute_seconds.push_back(seconds_of(computed - start));
        if (memory) {
            std::memcpy(memory->data() + copied_bytes, memory->data(), copied_bytes);
            memory->data()[0] = memory->data()[2 * copied_bytes - 1];
            readings.copy_seconds.push_back(seconds_of(clock.now() - computed));
        }
    }
    static_cast<void>(result);
    const auto after = processor_time(top);
    if (before && after && after->all > before->all) {
        readings.steal_share =
            static_cast<double>(after->steal - before->steal) / static_cast<double>(after->all - before->all);
    }
    return readings;
}

MachinePace::MachinePace(const Clock& clock) : clock_{clock}, memory_{memory_to_copy()}
{
    if (memory_) {
        static_cast<void>(read());  // the first one warms up
    }
}

std::optional<MachinePace::Reading> MachinePace::read()
{
    constexpr std::uint64_t fresh_bytes = 1U << 20;
    constexpr std::uint64_t released_bytes = 8U << 20;
    const auto fresh = Mapping::anonymous(fresh_bytes);
    auto released = Mapping::anonymous(released_bytes);
    if (!memory_ || !fresh || !released) {
        return std::nullopt;
    }
    static_cast<void>(advise(fresh->data(), fresh->size(), Advice::no_huge_pages));  // refused: there are none
    static_cast<void>(advise(released->data(), released->size(), Advice::no_huge_pages));
    touch_pages(released->data(), released->size());
    const auto begin = clock_.now();
    result_ += compute();
    const auto computed = clock_.now();
    std::memcpy(memory_->data() + copied_bytes, memory_->data(), copied_bytes);
    memory_->data()[0] = memory_->data()[2 * copied_bytes - 1];
    const auto copied = clock_.now();
    touch_pages(fresh->data(), fresh->size());
    const auto faulted = clock_.now();
    static_cast<void>(Mapping{std::move(*released)});  // which ends here
    const auto returned = clock_.now();
    return Reading{seconds_of(computed - begin), seconds_of(copied - computed), seconds_of(faulted - copied),
                   seconds_of(returned - faulted)};
}

namespace {

constexpr std::uint64_t most_filled_bytes = 16U << 20;
constexpr std::uint64_t least_filled_bytes = 1U << 20;
constexpr double seconds_of_round = 0.004;  // faults for so long, unless the least takes longer
constexpr std::uint64_t huge_bytes = 2U << 20;
constexpr std::size_t rounds = 5;

// A page at a time: one call for all of it would stream past the cache, which programs that fault do not.
double fill_seconds(const Clock& clock, std::byte* data, std::uint64_t bytes, int value)
{
    const auto begin = clock.now();
    for (std::uint64_t at = 0; at < bytes; at += page_size()) {
        std::memset(data + at, value, page_size());
        asm volatile("" ::"r"(data) : "memory");  // each page is written, whatever is written to it afterwards
    }
    return seconds_of(clock.now() - begin);
}

bool is_shared(FaultKind kind)
{
    return kind == FaultKind::shared_page || kind == FaultKind::shared_again;
}

std::uint64_t fault_bytes(FaultKind kind)
{
    return kind == FaultKind::huge_page ? huge_bytes : page_size();
}

// Room for the memory to begin on a huge page.
base::Expected<Mapping> fresh_mapping(FaultKind kind, std::uint64_t bytes)
{
    auto mapping = is_shared(kind) ? Mapping::shared(bytes) : Mapping::anonymous(bytes + huge_bytes);
    if (mapping) {
        const auto advice = kind == FaultKind::huge_page ? Advice::huge_pages : Advice::no_huge_pages;
        // Refused where huge pages are not built in: then there is none to forbid, and none is found to have come.
        static_cast<void>(advise(mapping->data(), mapping->size(), advice));
    }
    return mapping;
}

std::byte* start_of(const Mapping& mapping, FaultKind kind)
{
    const auto address = reinterpret_cast<std::uintptr_t>(mapping.data());
    return mapping.data() + (kind == FaultKind::huge_page ? (huge_bytes - address % huge_bytes) % huge_bytes : 0);
}

// Seconds per fault of one fresh mapping: mapped, trimmed and unmapped outside the timed parts.
base::Expected<double> measure_round(const Clock& clock, FaultKind kind, std::uint64_t bytes)
{
    const std::uint64_t faults = bytes / fault_bytes(kind);
    auto mapping = MEMSWEEP_TRY(fresh_mapping(kind, bytes));
    std::byte* const data = start_of(mapping, kind);
    if (kind == FaultKind::shared_again) {
        touch_pages(data, bytes);
        MEMSWEEP_TRY(advise(data, bytes, Advice::dont_need));
    }
    const std::uint64_t before = minor_faults();
    const double faulting = fill_seconds(clock, data, bytes, 1);
    if (kind == FaultKind::huge_page && minor_faults() - before > 2 * faults) {
        return base::fail(base::ErrorCode::not_supported, "the kernel gave no huge pages");
    }
    const double present = fill_seconds(clock, data, bytes, 2);
    return std::max(faulting - present, 0.0) / static_cast<double>(faults);
}

// Less where faults are dear: shadowed page tables make one 20 times as dear as it is elsewhere.
base::Expected<std::uint64_t> bytes_of_round(const Clock& clock, FaultKind kind)
{
    if (kind == FaultKind::huge_page) {
        return most_filled_bytes;
    }
    const double cost = MEMSWEEP_TRY(measure_round(clock, kind, least_filled_bytes));
    const std::uint64_t most = most_filled_bytes / fault_bytes(kind);
    if (cost * static_cast<double>(most) <= seconds_of_round) {
        return most_filled_bytes;
    }
    const auto bytes = static_cast<std::uint64_t>(seconds_of_round / cost) * fault_bytes(kind);
    return std::clamp(bytes, least_filled_bytes, most_filled_bytes);
}

}  // namespace

base::Expected<FaultCost> measure_fault_cost(const Clock& clock, FaultKind kind) noexcept
{
    const std::uint64_t bytes = MEMSWEEP_TRY(bytes_of_round(clock, kind));
    // The round that does not count makes the machine own the memory that the others are given.
    MEMSWEEP_TRY(measure_round(clock, kind, bytes));
    std::array<double, rounds> costs{};
    for (double& cost : costs) {
        cost = MEMSWEEP_TRY(measure_round(clock, kind, bytes));
    }
    std::ranges::sort(costs);
    return FaultCost{.seconds_per_fault = costs[rounds / 2], .faults = bytes / fault_bytes(kind)};
}

namespace {

double seconds_per_page(const Clock& clock, const Mapping& mapping)
{
    const auto begin = clock.now();
    const std::uint64_t pages = touch_pages(mapping.data(), mapping.size());
    return seconds_of(clock.now() - begin) / static_cast<double>(pages);
}

}  // namespace

base::Expected<std::vector<TouchedChunk>> measure_first_touch(const Clock& clock, std::uint64_t most_bytes,
                                                              std::chrono::nanoseconds most_time)
{
    std::vector<Mapping> kept;
    std::vector<TouchedChunk> chunks;
    const auto begin = clock.now();
    while ((kept.size() + 1) * touched_chunk_bytes <= most_bytes && clock.now() - begin < most_time) {
        auto mapping = Mapping::anonymous(touched_chunk_bytes);
        if (!mapping && kept.empty()) {
            return base::fail(std::move(mapping).error());
        }
        if (!mapping) {
            break;
        }
        // Refused where huge pages are not built in: then there is none to forbid.
        static_cast<void>(advise(mapping->data(), mapping->size(), Advice::no_huge_pages));
        const double first = seconds_per_page(clock, *mapping);
        MEMSWEEP_TRY(advise(mapping->data(), mapping->size(), Advice::dont_need));
        chunks.push_back({first, seconds_per_page(clock, *mapping)});
        kept.push_back(*std::move(mapping));
    }
    return chunks;
}

}  // namespace memsweep::sys
