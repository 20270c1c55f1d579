#include "core/sys/canary.hpp"

#include <cstdint>
#include <cstring>

#include "core/sys/page_ops.hpp"
#include "core/sys/proc_text.hpp"

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
        const auto ticks = parse_count(take_word(line));
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
    const std::string top = root.ends_with('/') ? root : root + "/";
    CanaryReadings readings;
    const auto memory = Mapping::anonymous(2 * copied_bytes);
    if (memory) {
        touch_pages(memory->data(), memory->size());
    }
    volatile std::uint64_t result = compute();  // warm, and never optimised away
    const auto before = processor_time(top);
    const auto begin = clock.now();
    for (int i = 0; i < limits.rounds && (i < limits.fewest_rounds || clock.now() - begin < limits.time); ++i) {
        const auto start = clock.now();
        result = compute();
        const auto computed = clock.now();
        readings.compute_seconds.push_back(std::chrono::duration<double>(computed - start).count());
        if (memory) {
            std::memcpy(memory->data() + copied_bytes, memory->data(), copied_bytes);
            memory->data()[0] = memory->data()[2 * copied_bytes - 1];
            readings.copy_seconds.push_back(std::chrono::duration<double>(clock.now() - computed).count());
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

}  // namespace memsweep::sys
