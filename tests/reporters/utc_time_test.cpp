#include "reporters/text/number_text.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {

TEST_CASE("times of day become seconds, and nothing else does", "[unit]")
{
    CHECK(epoch_seconds("1970-01-01T00:00:00Z") == 0.0);
    CHECK(epoch_seconds("2026-01-31T12:00:09.500Z") == 1769860809.5);
    CHECK(epoch_seconds("2024-02-29T00:00:00Z") == 1709164800.0);
    CHECK(seconds_part("2026-01-31T12:00:09.500Z") == "2026-01-31T12:00:09");
    for (const char* wrong :
         {"", "2026-01-31", "2023-02-29T00:00:00Z", "2026-01-31T12:00:00", "2026-01-31T12:00:00+01:00",
          "2026-01-31T25:00:00Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00Z\"><script>"}) {
        INFO(wrong);
        CHECK_FALSE(epoch_seconds(wrong));
        CHECK_FALSE(seconds_part(wrong));
    }
}

}  // namespace memsweep::reporters
