#include "core/sys/mapped_pages.hpp"

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using sys::PagedMemory;
using sys::PagesGot;
using sys::PageSize;

namespace {

constexpr std::uint64_t mib = 1U << 20;

}  // namespace

TEST_CASE("base pages are base pages, and only those touched are counted", "[machine]")
{
    auto memory = PagedMemory::map(8 * mib + 1, PageSize::small);
    REQUIRE(memory);
    CHECK(memory->size() == 8 * mib + sys::page_size());
    const auto beside = PagedMemory::map(8 * mib, PageSize::small);  // must not be counted with it
    REQUIRE(beside);
    sys::touch_pages(beside->data(), beside->size());
    CHECK(sys::pages_got(memory->data(), memory->size())->resident_bytes == 0);
    sys::touch_pages(memory->data(), 3 * mib);
    const auto got = sys::pages_got(memory->data(), memory->size());
    REQUIRE(got);
    CHECK(got->resident_bytes == 3 * mib);
    CHECK(got->thp_bytes == 0);
    CHECK(sys::is_as_asked(*got, PageSize::small));
    CHECK(sys::describe(*got) == "4k");
    const PagedMemory moved = *std::move(memory);
    CHECK(sys::pages_got(moved.data(), moved.size())->resident_bytes == 3 * mib);
}

TEST_CASE("huge pages start on one and are counted by the kernel", "[machine]")
{
    const auto memory = PagedMemory::map(8 * mib, PageSize::thp);
    if (!memory) {
        WARN("skipped: transparent huge pages: " << memory.error().message);
        return;
    }
    CHECK(reinterpret_cast<std::uintptr_t>(memory->data()) % sys::bytes_of(PageSize::thp) == 0);
    sys::touch_pages(memory->data(), memory->size());
    const auto got = sys::pages_got(memory->data(), memory->size());
    REQUIRE(got);
    CHECK(got->resident_bytes == memory->size());
    CHECK(sys::is_as_asked(*got, PageSize::thp) == (got->thp_bytes >= memory->size() / 10 * 9));
}

TEST_CASE("huge pages that are not reserved are refused with the number needed", "[unit]")
{
    tests::TempTree tree;
    tree.add("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "5\n");
    tree.add("sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "3\n");
    const auto memory = PagedMemory::map(6 * mib, PageSize::hugetlb_2m, tree.root());
    REQUIRE_FALSE(memory);
    CHECK(memory.error().code == base::ErrorCode::budget);
    CHECK_THAT(memory.error().message, Catch::StartsWith("needs 3 free huge pages of 2 MiB, 2 are there"));
    const auto larger = PagedMemory::map(mib, PageSize::hugetlb_1g, tree.root());
    REQUIRE_FALSE(larger);
    CHECK(larger.error().code == base::ErrorCode::not_supported);
    CHECK_FALSE(PagedMemory::map(mib, PageSize::thp, tree.root()));
}

TEST_CASE("what was got, in words and against what was asked for", "[unit]")
{
    CHECK(sys::describe(PagesGot{}).empty());
    CHECK(sys::describe({.resident_bytes = 100, .thp_bytes = 95}) == "thp");
    CHECK(sys::describe({.resident_bytes = 100, .thp_bytes = 50}) == "4k, 50 % of it thp");
    CHECK(sys::describe({.hugetlb_bytes = 100}) == "hugetlb");
    CHECK_FALSE(sys::is_as_asked({.resident_bytes = 100, .thp_bytes = 50}, PageSize::thp));
    CHECK_FALSE(sys::is_as_asked({.resident_bytes = 100, .thp_bytes = 50}, PageSize::small));
    CHECK_FALSE(sys::is_as_asked({.resident_bytes = 100}, PageSize::hugetlb_2m));
    CHECK_FALSE(sys::is_as_asked(PagesGot{}, PageSize::small));
}
