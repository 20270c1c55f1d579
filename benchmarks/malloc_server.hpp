// Runs this executable again under another malloc, to time one size there: every measurement in a fresh process.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::benchmarks {

struct MallocTiming {
    double seconds{};  // of all operations together; of several threads, of one's from the first start to the last end
    double faults{};
};

struct MallocTask {
    std::string allocator;  // a name that memsweep knows, or memsweep_pool, pmr_unsynchronized_pool,
                            // pmr_synchronized_pool
    std::uint64_t bytes{};
    std::uint64_t operations{};
    bool touched{};           // one write to every page between malloc and free
    std::uint32_t threads{};  // that do so at once, each pinned; 0: the process's first thread, and there is no other
};

[[nodiscard]] base::Expected<MallocTiming> time_malloc(const MallocTask& task);

// The other side: answers and returns true when the arguments ask for it.
[[nodiscard]] bool served(int argc, char** argv);

}  // namespace memsweep::benchmarks
