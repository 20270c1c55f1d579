#include "core/sys/process_probe.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/mman.h>

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/allocation_count.hpp"

using namespace memsweep;

namespace {

constexpr std::uint64_t mib = 1U << 20;

constexpr double most_overhead = tests::sanitized ? 4.0 : 0.05;

sys::Mapping small_pages(std::uint64_t bytes)
{
    auto mapping = sys::Mapping::anonymous(bytes);
    REQUIRE(mapping);
    static_cast<void>(sys::advise(mapping->data(), mapping->size(), sys::Advice::no_huge_pages));
    return std::move(*mapping);
}

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
        fine = fine && probe->snapshot().has_value() && probe->faults().minor != 0;
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
        const auto last = probe->faults();
        REQUIRE((first && second));
        fewest = std::min(fewest, last.minor - first->minor_faults + last.major - first->major_faults);
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
