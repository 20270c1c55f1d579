#include "core/sys/smaps_rollup.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace memsweep;

namespace {

const std::string rollup = "55721c625000-7ffe0f9f6000 ---p 00000000 00:00 0                          [rollup]\n"
                           "Rss:                1644 kB\n"
                           "Pss:                 374 kB\n"
                           "AnonHugePages:      2048 kB\n"
                           "ShmemPmdMapped:        7 kB\n"
                           "Shared_Hugetlb:     4096 kB\n"
                           "Private_Hugetlb:    6144 kB\n"
                           "Swap:                  9 kB\n";

}  // namespace

TEST_CASE("the fields of smaps_rollup become bytes, both kinds of hugetlb together", "[unit]")
{
    const auto snapshot = sys::parse_smaps_rollup(rollup);
    REQUIRE(snapshot);
    CHECK(snapshot->rss_bytes == 1644 * 1024);
    CHECK(snapshot->anon_huge_bytes == 2048 * 1024);
    CHECK(snapshot->hugetlb_bytes == 10240 * 1024);
    CHECK(snapshot->working_set_bytes() == (1644 + 10240) * 1024);
}

TEST_CASE("a field that the kernel does not show is an error that names it", "[unit]")
{
    for (const std::string field : {"Rss", "AnonHugePages", "Shared_Hugetlb", "Private_Hugetlb"}) {
        CAPTURE(field);
        std::string text = rollup;
        text.replace(text.find("\n" + field + ":") + 1, 1, "x");
        const auto snapshot = sys::parse_smaps_rollup(text);
        REQUIRE_FALSE(snapshot);
        CHECK(snapshot.error().code == base::ErrorCode::invalid_input);
        CHECK(snapshot.error().where == "/proc/self/smaps_rollup: " + field);
    }
    CHECK_FALSE(sys::parse_smaps_rollup(""));
    CHECK_FALSE(sys::parse_smaps_rollup(rollup.substr(0, rollup.find(" kB"))));
}
