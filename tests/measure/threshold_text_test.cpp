#include "core/measure/thresholds.hpp"

#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;
using model::Unit;

TEST_CASE("a threshold is a percentage and perhaps an amount in the metric's unit", "[unit]")
{
    CHECK(parse_threshold("5%", Unit::seconds)->relative == 0.05);
    CHECK(parse_threshold("5%", Unit::seconds)->absolute == 0);
    CHECK(parse_threshold("2.5%,1MiB", Unit::bytes)->relative == 0.025);
    CHECK(parse_threshold("2%,1MiB", Unit::bytes)->absolute == 1048576);
    CHECK(parse_threshold("0%,2ms", Unit::seconds)->absolute == 0.002);
    CHECK(parse_threshold("0%,64", Unit::one)->absolute == 64);
    CHECK(parse_threshold("5%,1GB/s", Unit::bytes_per_second)->absolute == 1e9);
}

TEST_CASE("what is no threshold is refused, whatever it is", "[unit]")
{
    for (const char* text : {"", "5", "%", "-1%", "5 %", "+5%", "5%%", "5%,", "5%,-1", "x%", "inf%", "nan%", "1e999%",
                             "5%,1MiB", "5%,2ms,3ms", "5%,1,", ",64"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_threshold(text, Unit::one));
    }
    CHECK_FALSE(parse_threshold("5%,64", Unit::seconds));  // a duration is never bare
    CHECK_FALSE(parse_threshold("5%,8M", Unit::bytes));
    const auto refused = parse_threshold(std::string(100'000, '9'), Unit::bytes);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.size() < 200);
    CHECK_THAT(refused.error().message, Contains("write 5% or 5%,1MiB"));
}
