#include "core/sys/placed_memory.hpp"

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/small_pages.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using model::PageKind;
using sys::PagesGot;
using sys::PlacedMemory;
using tests::mib;

TEST_CASE("base pages are base pages, and only those touched are counted", "[machine]")
{
    auto memory = PlacedMemory::map(8 * mib + 1, PageKind::small);
    REQUIRE(memory);
    CHECK(memory->size() == 8 * mib + sys::page_size());
    const auto beside = PlacedMemory::map(8 * mib, PageKind::small);  // must not be counted with it
    REQUIRE(beside);
    sys::touch_pages(beside->data(), beside->size());
    CHECK(sys::pages_got(memory->data(), memory->size())->resident_bytes == 0);
    sys::touch_pages(memory->data(), 3 * mib);
    const auto got = sys::pages_got(memory->data(), memory->size());
    REQUIRE(got);
    CHECK(got->resident_bytes == 3 * mib);
    CHECK(got->thp_bytes == 0);
    CHECK(sys::describe(*got) == "4k");
    const PlacedMemory moved = *std::move(memory);
    CHECK(sys::pages_got(moved.data(), moved.size())->resident_bytes == 3 * mib);
}

TEST_CASE("huge pages start on one and are counted by the kernel", "[machine]")
{
    const auto memory = PlacedMemory::map(8 * mib, PageKind::thp);
    if (!memory) {
        WARN("skipped: transparent huge pages: " << memory.error().message);
        return;
    }
    CHECK(reinterpret_cast<std::uintptr_t>(memory->data()) % sys::bytes_of(PageKind::thp) == 0);
    sys::touch_pages(memory->data(), memory->size());
    const auto got = sys::pages_got(memory->data(), memory->size());
    REQUIRE(got);
    CHECK(got->resident_bytes == memory->size());
}

TEST_CASE("huge pages that are not reserved are refused with the number needed", "[unit]")
{
    tests::TempTree tree;
    tree.add("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "5\n");
    tree.add("sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "3\n");
    const auto memory = PlacedMemory::map(6 * mib, PageKind::huge_2m, tree.root());
    REQUIRE_FALSE(memory);
    CHECK(memory.error().code == base::ErrorCode::budget);
    CHECK_THAT(memory.error().message, Catch::StartsWith("needs 3 free huge pages of 2 MiB, 2 are there"));
    const auto larger = PlacedMemory::map(mib, PageKind::huge_1g, tree.root());
    REQUIRE_FALSE(larger);
    CHECK(larger.error().code == base::ErrorCode::not_supported);
    CHECK_FALSE(PlacedMemory::map(mib, PageKind::thp, tree.root()));
}

TEST_CASE("what was got, in words and against what was asked for", "[unit]")
{
    CHECK(sys::describe(PagesGot{}).empty());
    CHECK(sys::describe({.resident_bytes = 100, .thp_bytes = 95}) == "thp");
    CHECK(sys::describe({.resident_bytes = 100, .thp_bytes = 50}) == "4k, 50 % of it thp");
    CHECK(sys::describe({.hugetlb_bytes = 100}) == "hugetlb");
}

TEST_CASE("reserved huge pages are read from below the root, smallest first", "[unit]")
{
    tests::TempTree tree;
    tree.add("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
    tree.add("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "5\n");
    tree.add("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n");
    const auto pools = sys::huge_page_pools(tree.root());
    REQUIRE(pools.size() == 2);
    CHECK(pools[0].page_bytes == 2U << 20);
    CHECK(pools[0].reserved == 5);
    CHECK(pools[0].free == 3);
    CHECK(pools[1].page_bytes == 1U << 30);
    CHECK(sys::huge_page_pools(tests::TempTree{}.root()).empty());
}
