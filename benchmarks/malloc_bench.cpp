// malloc_free/<allocator>/<bytes>/<touched|untouched>: one malloc and its free, in a loop, under each allocator that is
// installed and on the pools of std::pmr. Untouched is the allocator's own work; touched adds a write to every page and
// with it the faults that the allocator makes necessary. The counter faults says how many came with each operation.
//
// malloc_free/<allocator>/<bytes>/<one_thread|two_threads>: untouched, small, and in so many new threads at once. Their
// part of the allocator is empty, and the C library takes its locks; the process's first thread has neither.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "benchmarks/malloc_server.hpp"
#include "core/model/allocator.hpp"

namespace {

using namespace memsweep;

constexpr std::array<std::uint64_t, 11> sizes{64,         256,      1U << 10, 4U << 10,  16U << 10, 64U << 10,
                                              256U << 10, 1U << 20, 8U << 20, 32U << 20, 128U << 20};

// Enough for a steady reading of a few nanoseconds, few enough for blocks that fault in whole each time.
std::uint64_t operations_for(std::uint64_t bytes, bool touched)
{
    constexpr std::uint64_t touched_bytes = 1ULL << 30;
    constexpr std::uint64_t untouched = 200'000;
    return touched ? std::clamp<std::uint64_t>(touched_bytes / bytes, 4, untouched)
                   : (bytes > (1U << 20) ? 5'000 : untouched);
}

void malloc_free(benchmark::State& state, const benchmarks::MallocTask& task)
{
    double faults = 0;
    while (state.KeepRunningBatch(static_cast<std::int64_t>(task.operations))) {
        const auto timing = benchmarks::time_malloc(task);
        if (!timing) {
            state.SkipWithError(base::describe(timing.error()).c_str());
            return;
        }
        state.SetIterationTime(timing->seconds);
        faults = timing->faults / static_cast<double>(task.operations);
    }
    state.counters["faults"] = faults;
}

void add(const benchmarks::MallocTask& task, std::string_view what)
{
    benchmark::RegisterBenchmark(fmt::format("malloc_free/{}/{}/{}", task.allocator, task.bytes, what).c_str(),
                                 malloc_free, task)
        ->UseManualTime()
        ->Iterations(static_cast<std::int64_t>(task.operations));
}

const bool registered = [] {
    constexpr std::uint64_t largest_in_threads = 4U << 10;
    constexpr std::uint64_t operations_in_threads = 1'000'000;  // as many as the scenario allocator_small has
    std::vector<std::string> allocators;
    for (const std::string_view name : model::allocator_names()) {
        allocators.emplace_back(name);
        for (const std::uint64_t bytes : sizes) {
            if (bytes <= largest_in_threads) {
                const std::string one{name};
                add({one, bytes, operations_in_threads, false, 1}, "one_thread");
                add({one, bytes, operations_in_threads, false, 2}, "two_threads");
            }
        }
    }
    allocators.emplace_back("memsweep_pool");
    allocators.emplace_back("pmr_unsynchronized_pool");
    allocators.emplace_back("pmr_synchronized_pool");
    for (const std::string& allocator : allocators) {
        for (const std::uint64_t bytes : sizes) {
            for (const bool touched : {false, true}) {
                add({allocator, bytes, operations_for(bytes, touched), touched}, touched ? "touched" : "untouched");
            }
        }
    }
    return true;
}();

}  // namespace
