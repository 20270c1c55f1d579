#include "core/base/quantity.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace memsweep;

TEST_CASE("sizes are read strictly", "[unit]")
{
    CHECK(base::parse_size("0").value() == 0);
    CHECK(base::parse_size("4096").value() == 4096);
    CHECK(base::parse_size("4KiB").value() == 4096);
    CHECK(base::parse_size("1.5MiB").value() == 1572864);
    CHECK(base::parse_size("1.5kB").value() == 1500);
    CHECK(base::parse_size("16TiB").value() == 16ULL << 40);
    CHECK(base::parse_size("18446744073709551615").value() == 18446744073709551615ULL);
    for (const char* bad : {"", "8M", "8K", "-1", "8 mb", "8 MiB", "+8", "1e3", "KiB", "0x10", "1.5", "1.2.3KiB",
                            "8mib", "18446744073709551616", "99999999TiB", "0.0001KiB", "1.KiB2", "8MiB ", "٣"}) {
        INFO(bad);
        const auto parsed = base::parse_size(bad);
        REQUIRE(!parsed);
        CHECK(parsed.error().code == base::ErrorCode::invalid_input);
        CHECK(parsed.error().message.find(std::string{"\""} + bad + "\"") != std::string::npos);
    }
}

TEST_CASE("durations always carry a unit", "[unit]")
{
    using namespace std::chrono_literals;
    CHECK(base::parse_duration("5ms").value() == 5ms);
    CHECK(base::parse_duration("0.5s").value() == 500ms);
    CHECK(base::parse_duration("2m").value() == 2min);
    CHECK(base::parse_duration("1h").value() == 1h);
    CHECK(base::parse_duration("0ns").value() == 0ns);
    for (const char* bad : {"", "5", "5 ms", "-5ms", "5min", "5S", "0.5ns", "1e3s", "300000h000"}) {
        INFO(bad);
        CHECK(!base::parse_duration(bad));
    }
    CHECK(!base::parse_duration("99999999h"));
}

TEST_CASE("rates are sizes per second", "[unit]")
{
    CHECK(base::parse_rate("12.5GB/s").value() == 12.5e9);
    CHECK(base::parse_rate("1GiB/s").value() == 1073741824.0);
    for (const char* bad : {"", "/s", "12", "12GB", "12G/s", "GB/s", "-1GB/s"}) {
        INFO(bad);
        CHECK(!base::parse_rate(bad));
    }
}

TEST_CASE("output is in IEC units for sizes and SI for rates", "[unit]")
{
    CHECK(base::format_size(0) == "0 B");
    CHECK(base::format_size(1023) == "1,023 B");
    CHECK(base::format_size(1024) == "1.00 KiB");
    CHECK(base::format_size(800e6) == "762.9 MiB");
    CHECK(base::format_size(-8e6) == "-7.63 MiB");
    CHECK(base::format_size(1023.99 * 1024) == "1.00 MiB");
    CHECK(base::format_rate(13.4e9) == "13.4 GB/s");
    CHECK(base::format_duration(0) == "0 s");
    CHECK(base::format_duration(1.25e-3) == "1.25 ms");
    CHECK(base::format_duration(52e-9) == "52.0 ns");
    CHECK(base::format_duration(0.99999e-3) == "1.00 ms");
    CHECK(base::format_duration(600) == "10.0 min");
    CHECK(base::format_count(195313) == "195,313");
    CHECK(base::format_count(-1234567) == "-1,234,567");
    CHECK(base::format_count(999) == "999");
    CHECK(base::format_count(19.53) == "19.5");
    CHECK(base::format_count(2996.5) == "2,996.5");
    CHECK(base::format_count(132946.5) == "132,946");
}

TEST_CASE("numbers are grouped, and what rounds to zero has no sign", "[unit]")
{
    CHECK(base::format_number(1234567.25, 1) == "1,234,567.2");
    CHECK(base::format_number(-1000, 0) == "-1,000");
    CHECK(base::format_number(-999.5, 1) == "-999.5");
    CHECK(base::format_number(-0.04, 1) == "0.0");
    CHECK(base::format_number(0, 2) == "0.00");
    CHECK(base::format_size(-0.3) == "0 B");
    CHECK(base::format_duration(-1e-13) == "0.00 ns");
}

TEST_CASE("an exact size reads back", "[unit]")
{
    for (const std::uint64_t bytes : {0ULL, 1ULL, 4096ULL, 8000000ULL, 1ULL << 40, 3ULL << 50, ~0ULL}) {
        CHECK(base::parse_size(base::exact_size(bytes)).value() == bytes);
    }
    CHECK(base::exact_size(4096) == "4KiB");
}
