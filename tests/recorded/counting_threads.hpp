// What recorded_cuts counts of itself, in a file that check_cuts maps too.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace memsweep::tests {

inline constexpr std::size_t most_counting_threads = 64;

// Each call is counted when it has returned.
struct alignas(64) ThreadCounts {
    std::atomic<std::uint32_t> thread;
    std::atomic<std::uint64_t> allocations;
    std::atomic<std::uint64_t> reallocations;
    std::atomic<std::uint64_t> frees;
};

struct SharedCounts {
    std::atomic<std::uint32_t> process;
    std::atomic<std::uint32_t> running;  // threads, all of them once they are as many as were asked for
    std::atomic<bool> may_end;
    std::array<ThreadCounts, most_counting_threads> threads;
};

}  // namespace memsweep::tests
