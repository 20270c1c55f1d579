// Memory of a memfd: what a soft trim takes from it, and what it leaves.
#include <cstring>

#include <sys/mman.h>

#include "core/memory/page_resources.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/fault_count.hpp"

namespace memsweep::memory {
namespace {

using tests::page_bytes;

constexpr std::size_t touched = 100;

}  // namespace

TEST_CASE("memfd: dropping page-table entries keeps the contents, at one minor fault a page", "[machine]")
{
    SharedResource resource{model::PageKind::small};
    const std::size_t bytes = touched * page_bytes();
    const Allocation allocation = resource.allocate(bytes, 16);
    REQUIRE(allocation.status == AllocStatus::ok);
    std::memset(allocation.ptr, 0x5A, bytes);
    REQUIRE(::madvise(allocation.ptr, bytes, MADV_DONTNEED) == 0);
    auto* const data = static_cast<volatile unsigned char*>(allocation.ptr);
    std::size_t kept = 0;
    const std::uint64_t faults = tests::faults_of([&] {
        for (std::size_t page = 0; page < touched; ++page) {
            data[page * page_bytes()] = 0x5A;  // a write: reads are served 16 pages a fault
            kept += data[page * page_bytes() + 1] == 0x5A ? 1U : 0U;
        }
    });
    tests::check_close(faults, touched);
    CHECK(kept == touched);
    resource.deallocate(allocation.ptr, bytes, 16);
    CHECK(tests::resident_pages(allocation.ptr, bytes) == -1);
}

TEST_CASE("memfd: zeroed memory stays untouched, the mapping is the kernel's shared memory", "[machine]")
{
    SharedResource resource{model::PageKind::system};
    const Allocation allocation = resource.allocate_zeroed(10 * page_bytes() + 1, 16);
    CHECK(tests::resident_pages(allocation.ptr, 10 * page_bytes() + 1) == 0);
    CHECK(tests::vm_flags(allocation.ptr).find(" sh ") != std::string::npos);
    resource.deallocate(allocation.ptr, 10 * page_bytes() + 1, 16);
}

TEST_CASE("memfd: what is reserved to align is given back", "[machine]")
{
    SharedResource resource{model::PageKind::small};
    constexpr std::size_t bytes = 3U << 20;
    resource.deallocate(resource.allocate(bytes, 2U << 20).ptr, bytes, 2U << 20);
    const std::uint64_t before = tests::mapped_bytes();
    const Allocation allocation = resource.allocate(bytes, 2U << 20);
    CHECK(tests::mapped_bytes() - before == bytes);
    resource.deallocate(allocation.ptr, bytes, 2U << 20);
    CHECK(tests::mapped_bytes() == before);
}

}  // namespace memsweep::memory
