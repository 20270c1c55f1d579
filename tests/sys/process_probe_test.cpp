#include "core/sys/process_probe.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "core/sys/interprocess.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/allocation_count.hpp"
#include "tests/sys/helper_role.hpp"
#include "tests/sys/small_pages.hpp"

using namespace memsweep;
using tests::mib;
using tests::small_pages;

namespace {

constexpr double most_overhead = tests::sanitized ? 4.0 : 0.05;

}  // namespace

TEST_CASE("a planted allocation is counted", "[machine]")
{
    const auto before = tests::allocation_count();
    const auto one = std::make_unique<int>(1);
    CHECK(tests::allocation_count() == before + 1);
    void* volatile const block = std::malloc(10);
    CHECK(tests::allocation_count() == before + 2);
    std::free(block);
}

TEST_CASE("reading the process's memory allocates nothing", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    const auto before = tests::allocation_count();
    bool fine = true;
    for (int i = 0; i < 10; ++i) {
        fine = fine && probe->snapshot().has_value() && probe->kernel_use().minor_faults != 0;
        probe->reset_peak();
        fine = fine && probe->peak_bytes().has_value();
    }
    const auto after = tests::allocation_count();
    CHECK(fine);
    CHECK(after == before);
}

TEST_CASE("reading the process's memory faults in nothing", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    // The kernel may take a page of ours in between (DAMON, NUMA balancing), so the quietest of several rounds counts.
    std::uint64_t fewest = ~0ULL;
    for (int round = 0; round < 10; ++round) {
        const auto first = probe->snapshot();
        const auto second = probe->snapshot();
        const auto last = probe->kernel_use();
        REQUIRE((first && second));
        fewest = std::min(fewest, last.minor_faults - first->minor_faults + last.major_faults - first->major_faults);
    }
    CHECK((tests::sanitized || fewest == 0));
}

TEST_CASE("what another thread maps and unmaps hides no mapping", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    const sys::Mapping held = small_pages(16 * mib);
    std::memset(held.data(), 1, held.size());
    const auto before = probe->snapshot();
    REQUIRE(before);
    std::atomic<bool> stop{false};
    std::thread other{[&] {
        while (!stop) {
            static_cast<void>(sys::Mapping::anonymous(mib));
        }
    }};
    std::uint64_t least = ~0ULL;
    for (int i = 0; i < 200; ++i) {
        const auto now = probe->snapshot();
        least = std::min(least, now ? now->rss_bytes : 0);
    }
    stop = true;
    other.join();
    CHECK(least + mib / 4 >= before->rss_bytes);  // the kernel may take a page of ours in between
}

TEST_CASE("a thread that shares its only processor waits for it, no longer than time passes", "[machine]")
{
    cpu_set_t before;
    REQUIRE(::sched_getaffinity(0, sizeof(before), &before) == 0);
    std::size_t cpu = 0;
    while (!CPU_ISSET(cpu, &before)) {
        ++cpu;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(::sched_setaffinity(0, sizeof(one), &one) == 0);
    const auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    const auto begin = std::chrono::steady_clock::now();
    const auto first = probe->run_delay();
    if (first) {
        std::atomic<bool> stop{false};
        std::thread rival{[&] {  // inherits the affinity
            while (!stop.load(std::memory_order_relaxed)) {
            }
        }};
        auto last = first;
        while (*last == *first && std::chrono::steady_clock::now() - begin < std::chrono::seconds{10}) {
            std::this_thread::yield();
            last = probe->run_delay();
        }
        const auto passed = std::chrono::steady_clock::now() - begin;
        stop = true;
        rival.join();
        CHECK(*last > *first);
        CHECK(*last - *first <= passed);
    }
    REQUIRE(::sched_setaffinity(0, sizeof(before), &before) == 0);
    if (!first) {
        WARN("left out: this kernel keeps no schedstat");
    }
}

TEST_CASE("the resident set grows by the bytes touched and shrinks by those given back", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    const auto before = probe->snapshot();
    std::uint64_t touched = 0;
    {
        const sys::Mapping mapping = small_pages(64 * mib);
        const auto mapped = probe->snapshot();
        touched = sys::touch_pages(mapping.data(), mapping.size()) * sys::page_size();
        const auto after = probe->snapshot();
        REQUIRE((before && mapped && after));
        CHECK(mapped->rss_bytes - before->rss_bytes < mib);
        CHECK(static_cast<double>(after->rss_bytes - mapped->rss_bytes) >= static_cast<double>(touched));
        CHECK(static_cast<double>(after->rss_bytes - mapped->rss_bytes) <=
              static_cast<double>(touched) * (1 + most_overhead));
        CHECK(after->anon_huge_bytes == mapped->anon_huge_bytes);
        CHECK(after->working_set_bytes() == after->rss_bytes + after->hugetlb_bytes);
    }
    const auto gone = probe->snapshot();
    REQUIRE(gone);
    CHECK(gone->rss_bytes < before->rss_bytes + touched / 2);
}

TEST_CASE("the peak remembers what has gone, until it is reset", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    probe->reset_peak();
    const auto before = probe->peak_bytes();
    if (!before) {
        WARN("left out: the peak cannot be reset here: " + base::describe(before.error()));
        return;
    }
    {
        const sys::Mapping mapping = small_pages(64 * mib);
        sys::touch_pages(mapping.data(), mapping.size());
    }
    const auto peak = probe->peak_bytes();
    REQUIRE(peak);
    CHECK(*peak >= *before + 60 * mib);
    probe->reset_peak();
    const auto anew = probe->peak_bytes();
    REQUIRE(anew);
    CHECK(*anew + 32 * mib < *peak);
}

TEST_CASE("transparent huge pages are told apart", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    const auto mapping = sys::Mapping::anonymous(32 * mib);
    REQUIRE((probe && mapping));
    const auto before = probe->snapshot();
    if (!sys::advise(mapping->data(), mapping->size(), sys::Advice::huge_pages)) {
        WARN("left out: this kernel has no transparent huge pages");
        return;
    }
    sys::touch_pages(mapping->data(), mapping->size());
    const auto after = probe->snapshot();
    REQUIRE((before && after));
    if (after->anon_huge_bytes == before->anon_huge_bytes) {
        WARN("left out: the kernel had no huge page to give, or transparent_hugepage is 'never'");
        return;
    }
    CHECK(after->anon_huge_bytes - before->anon_huge_bytes <= 32 * mib);
    CHECK(after->rss_bytes - before->rss_bytes >= 32 * mib);
}

TEST_CASE("hugetlb pages count in the working set, not in the resident set", "[machine]")
{
    constexpr std::uint64_t huge = 2 * mib;
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    const auto before = probe->snapshot();
    void* const page = ::mmap(nullptr, huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (page == MAP_FAILED) {
        WARN("left out: no hugetlb page is reserved here (vm.nr_hugepages)");
        return;
    }
    sys::touch_pages(page, 1);
    const auto after = probe->snapshot();
    ::munmap(page, huge);
    REQUIRE((before && after));
    CHECK(after->hugetlb_bytes == before->hugetlb_bytes + huge);
    CHECK(after->working_set_bytes() >= before->working_set_bytes() + huge);
    CHECK(after->rss_bytes < before->rss_bytes + mib);
}

namespace {

constexpr std::uint64_t kib = 1024;

const std::string rollup = "55721c625000-7ffe0f9f6000 ---p 00000000 00:00 0                          [rollup]\n"
                           "Rss:                1644 kB\n"
                           "Pss:                 374 kB\n"
                           "Anonymous:          1100 kB\n"
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
    CHECK(snapshot->anon_bytes == 1100 * kib);
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
    CHECK(snapshot->anon_bytes == 110'000 * kib);
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

using namespace std::chrono_literals;

TEST_CASE("a child's working set is seen to grow from outside, and to end with it", "[machine]")
{
    auto ends = sys::Channel::pair();
    REQUIRE(ends);
    auto child = sys::ChildProcess::spawn(tests::helper("touch", ends->second.fd()));
    REQUIRE(child);
    std::array<char, 16> buffer{};
    REQUIRE(ends->first.receive(buffer, 30s)->bytes == "before");
    auto watch = sys::ProcessWatch::open(child->pid());
    REQUIRE(watch);
    const auto before = watch->working_set_bytes();
    REQUIRE(ends->first.send("go"));
    REQUIRE(ends->first.receive(buffer, 30s)->bytes == "touched");
    const auto allocations = tests::allocation_count();
    const auto after = watch->working_set_bytes();
    CHECK(tests::allocation_count() == allocations);
    REQUIRE((before && after));
    CHECK(*after >= *before + (60U << 20));

    REQUIRE(ends->first.send("go"));
    for (int i = 0; i < 3000 && watch->working_set_bytes(); ++i) {
        std::this_thread::sleep_for(10ms);
    }
    CHECK_FALSE(watch->working_set_bytes());  // a zombie: dead, and not reaped
    CHECK(child->wait_for(30s)->describe() == "exit code 0");
    CHECK_FALSE(watch->working_set_bytes());
}

TEST_CASE("both ways of looking at a process agree", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    auto watch = sys::ProcessWatch::open(::getpid());
    REQUIRE((probe && watch));
    const auto inside = probe->snapshot();
    const auto outside = watch->working_set_bytes();
    REQUIRE((inside && outside));
    const double both = static_cast<double>(inside->working_set_bytes());
    CHECK(static_cast<double>(*outside) == Approx(both).margin(8 << 20));
}

TEST_CASE("a process that is not there cannot be watched", "[machine]")
{
    const auto watch = sys::ProcessWatch::open(0x3FFFFFFF);
    REQUIRE_FALSE(watch);
    CHECK(watch.error().code == base::ErrorCode::os);
    CHECK(watch.error().where == "/proc/1073741823/status");
}
