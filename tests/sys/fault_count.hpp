// How many minor faults something costs this process.
#pragma once

#include <cstdint>

#include "core/sys/process_probe.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/allocation_count.hpp"

namespace memsweep::tests {

inline std::uint64_t faults_of(const auto& action)
{
    const auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    const auto before = probe->kernel_use().minor_faults;
    action();
    return probe->kernel_use().minor_faults - before;
}

// As many faults as pages, and what the kernel adds of its own: 1 %, and pages of this program's that it takes away
// and gives back meanwhile (reclaim, migration, NUMA balancing). A sanitizer's shadow faults without any limit.
inline void check_close(std::uint64_t faults, std::uint64_t pages)
{
    CAPTURE(faults, pages);
    CHECK(faults >= pages);
    CHECK((sanitized || faults <= pages + pages / 100 + 4));
}

// None but those.
inline void check_no_faults(std::uint64_t faults, std::uint64_t pages)
{
    CAPTURE(faults, pages);
    CHECK((sanitized || faults <= pages / 100 + 4));
}

}  // namespace memsweep::tests
