#include "core/sys/cgroup_memory.hpp"

#include "tests/support/catch.hpp"

namespace memsweep::sys {

TEST_CASE("pressure: avg10 of the line that begins with some", "[unit]")
{
    CHECK(stalled_percent(
              "some avg10=12.34 avg60=1.00 avg300=0.00 total=9\nfull avg10=3.00 avg60=0 avg300=0 total=1\n") == 12.34);
    CHECK(stalled_percent("full avg10=3.00 avg60=0.00 avg300=0.00 total=1\n") == std::nullopt);
    CHECK(stalled_percent("some avg60=3.00\n") == std::nullopt);
    CHECK(stalled_percent("") == std::nullopt);
}

}  // namespace memsweep::sys
