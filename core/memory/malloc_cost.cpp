#include "core/memory/malloc_cost.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/base/barrier.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::memory {
namespace {

constexpr int rounds = 7;
constexpr int operations_to_settle = 4;
constexpr std::size_t untouched_operations = 2000;
constexpr std::size_t max_touched_operations = 256;
constexpr std::size_t least_touched_operations = 4;
constexpr std::size_t touched_bytes = 64U << 20U;  // over all operations, as far as their least number allows

bool allocate_and_free(std::size_t bytes)
{
    void* const block = base::hide(std::malloc(bytes));
    std::free(block);
    return block != nullptr;
}

void touch_and_free(std::size_t bytes, std::size_t page)
{
    auto* const block = static_cast<volatile char*>(base::hide(std::malloc(bytes)));
    if (block == nullptr) {
        return;
    }
    for (std::size_t at = 0; at < bytes; at += page) {
        block[at] = 1;
    }
    block[bytes - 1] = 1;
    std::free(const_cast<char*>(block));
}

double fastest_round(const sys::Clock& clock, std::size_t bytes)
{
    auto fastest = std::chrono::nanoseconds::max();
    for (int round = 0; round < rounds; ++round) {
        const auto begin = clock.now();
        for (std::size_t i = 0; i < untouched_operations; ++i) {
            allocate_and_free(bytes);
        }
        fastest = std::min(fastest, clock.now() - begin);
    }
    return static_cast<double>(fastest.count()) / static_cast<double>(untouched_operations);
}

}  // namespace

MallocCost measure_malloc_cost(const sys::Clock& clock, std::size_t bytes)
{
    bytes = std::max<std::size_t>(bytes, 1);
    const std::size_t page = sys::page_size();
    if (!allocate_and_free(bytes)) {
        return {-1, -1};
    }
    for (int i = 0; i < operations_to_settle; ++i) {
        touch_and_free(bytes, page);
    }
    MallocCost cost{.ns_per_op = fastest_round(clock, bytes)};
    for (int i = 0; i < operations_to_settle; ++i) {
        touch_and_free(bytes, page);
    }
    const std::size_t operations = std::clamp(touched_bytes / bytes, least_touched_operations, max_touched_operations);
    const std::uint64_t before = sys::minor_faults();
    for (std::size_t i = 0; i < operations; ++i) {
        touch_and_free(bytes, page);
    }
    cost.faults_per_op = static_cast<double>(sys::minor_faults() - before) / static_cast<double>(operations);
    return cost;
}

}  // namespace memsweep::memory
