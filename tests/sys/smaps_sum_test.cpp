#include "core/sys/process_probe.hpp"

#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

using namespace memsweep;

namespace {

constexpr std::uint64_t kib = 1024;

const std::string rollup = "55721c625000-7ffe0f9f6000 ---p 00000000 00:00 0                          [rollup]\n"
                           "Rss:                1644 kB\n"
                           "Pss:                 374 kB\n"
                           "AnonHugePages:      2048 kB\n"
                           "ShmemPmdMapped:        7 kB\n"
                           "Shared_Hugetlb:     4096 kB\n"
                           "Private_Hugetlb:    6144 kB\n"
                           "Swap:                  9 kB\n";

base::Expected<sys::MemorySnapshot> read_as_file(const std::string& text)
{
    const sys::UniqueFd file{::memfd_create("smaps", MFD_CLOEXEC)};
    REQUIRE(file.valid());
    REQUIRE(::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return sys::read_smaps(file.get(), "FILE");
}

}  // namespace

TEST_CASE("the fields of smaps_rollup become bytes, both kinds of hugetlb together", "[unit]")
{
    const auto snapshot = read_as_file(rollup);
    REQUIRE(snapshot);
    CHECK(snapshot->rss_bytes == 1644 * kib);
    CHECK(snapshot->anon_huge_bytes == 2048 * kib);
    CHECK(snapshot->hugetlb_bytes == 10240 * kib);
    CHECK(snapshot->working_set_bytes() == (1644 + 10240) * kib);
}

TEST_CASE("the fields of all mappings add up, however the file comes in pieces", "[unit]")
{
    const std::size_t longest = GENERATE(0U, 1U, 4'000U, 8'110U, 8'111U, 8'112U, 8'113U, 20'000U);
    CAPTURE(longest);
    std::string smaps;
    for (int mapping = 0; mapping < 100; ++mapping) {
        smaps += rollup;
        const std::string name(mapping % 10 == 0 ? longest : 0, 'R');
        smaps.replace(smaps.rfind("[rollup]"), 8, "/" + name + "Rss: 7 kB");
    }
    const auto snapshot = read_as_file(smaps);
    REQUIRE(snapshot);
    CHECK(snapshot->rss_bytes == 164'400 * kib);
    CHECK(snapshot->anon_huge_bytes == 204'800 * kib);
    CHECK(snapshot->hugetlb_bytes == 1'024'000 * kib);
}

TEST_CASE("a field that the kernel does not show is an error that names it", "[unit]")
{
    for (const std::string field : {"Rss", "AnonHugePages", "Shared_Hugetlb", "Private_Hugetlb"}) {
        CAPTURE(field);
        std::string text = rollup;
        text.replace(text.find("\n" + field + ":") + 1, 1, "x");
        const auto snapshot = read_as_file(text);
        REQUIRE_FALSE(snapshot);
        CHECK(snapshot.error().code == base::ErrorCode::invalid_input);
        CHECK(snapshot.error().where == "FILE: " + field);
    }
    CHECK_FALSE(read_as_file(""));
    CHECK_FALSE(read_as_file(rollup.substr(0, rollup.find(" kB"))));
    const auto unread = sys::read_smaps(-1, "FILE");
    REQUIRE_FALSE(unread);
    CHECK(unread.error().where == "FILE");
}

TEST_CASE("kernels whose smaps_rollup may leave out mappings", "[unit]")
{
    for (const char* release : {"6.1.0-28-amd64", "6.1", "6.8.0-31-generic", "6.11.9"}) {
        CAPTURE(release);
        CHECK(sys::rollup_may_skip_mappings(release));
    }
    for (const char* release :
         {"5.15.0", "6.0.19", "6.12.95+deb12-amd64", "6.18.44-fc-v669", "6.100", "7.1.0", "", "6", "6.", "x.1"}) {
        CAPTURE(release);
        CHECK_FALSE(sys::rollup_may_skip_mappings(release));
    }
}
