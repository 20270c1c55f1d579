// Runs this executable again under another malloc, to time one size there. Every measurement has a fresh process.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::benchmarks {

struct MallocTiming {
    double
        seconds{};  // all operations together; with several threads, from the first one's start to the last one's end
    double faults{};
};

struct MallocTask {
    std::string allocator;  // a name that memsweep knows, or memsweep_pool, pmr_unsynchronized_pool,
                            // pmr_synchronized_pool
    std::uint64_t bytes{};
    std::uint64_t operations{};
    bool touched{};           // one write to every page between malloc and free
    std::uint32_t threads{};  // all at once, each pinned and without touching; 0: the first thread, and no other
};

[[nodiscard]] base::Expected<MallocTiming> time_malloc(const MallocTask& task);

// The side of the new process: times what the arguments ask for, and returns true. False: they ask for nothing.
[[nodiscard]] bool served(int argc, char** argv);

}  // namespace memsweep::benchmarks
