// Runs this executable again under another malloc, to time allocations of one size. Every measurement has its own
// process.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::benchmarks {

struct MallocTiming {
    double
        seconds{};  // of all operations; with several threads, from the first thread's start to the last thread's end
    double faults{};
};

struct MallocTask {
    std::string allocator;  // an allocator that memsweep knows, or memsweep_pool, pmr_unsynchronized_pool,
                            // pmr_synchronized_pool
    std::uint64_t bytes{};
    std::uint64_t operations{};
    bool touched{};           // one write to every page between malloc and free
    std::uint32_t threads{};  // all at the same time, pinned, without touching; 0: the main thread only
};

[[nodiscard]] base::Expected<MallocTiming> time_malloc(const MallocTask& task);

// Called in the new process. If the arguments hold a task, times it and returns true; otherwise returns false.
[[nodiscard]] bool served(int argc, char** argv);

}  // namespace memsweep::benchmarks
