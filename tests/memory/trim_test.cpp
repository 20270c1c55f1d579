// What each trim takes from memory, and what it leaves.
#include "core/memory/paging.hpp"

#include <algorithm>
#include <cstring>

#include "core/memory/page_resources.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/fault_count.hpp"

namespace memsweep::memory {
namespace {

using model::TrimHow;
using tests::page_bytes;

constexpr std::size_t block_pages = 64;

// A block filled with 0x5A, trimmed, and what was found afterwards.
struct Found {
    PagesAdvised trimmed;
    std::size_t kept{};    // bytes that still hold their value
    std::size_t zeroed{};  // bytes that read as zero
    std::uint64_t write_faults{};
};

Found after(MemoryResource& resource, TrimHow how, std::size_t extra = 0)
{
    const std::size_t bytes = block_pages * page_bytes() + extra;
    const Allocation allocation = resource.allocate(bytes, 16);
    REQUIRE(allocation.status == AllocStatus::ok);
    auto* const data = static_cast<unsigned char*>(allocation.ptr);
    std::memset(data, 0x5A, bytes);
    Found found{.trimmed = trim(data, bytes, how)};
    found.write_faults = tests::faults_of([&] { sys::touch_pages(data + 1, block_pages * page_bytes() - 1); });
    const auto count = [&](unsigned char value) {
        std::size_t times = 0;
        for (std::size_t page = 0; page < block_pages; ++page) {
            times += data[page * page_bytes() + 8] == value ? 1U : 0U;
        }
        return times;
    };
    found.kept = count(0x5A);
    found.zeroed = count(0);
    resource.deallocate(allocation.ptr, bytes, 16);
    return found;
}

}  // namespace

TEST_CASE("trim soft: the entries go, the contents stay, each page written faults once", "[machine]")
{
    SharedResource resource{model::PageKind::small};
    const Found found = after(resource, TrimHow::soft);
    CHECK(found.trimmed.bytes == block_pages * page_bytes());
    CHECK(found.kept == block_pages);
    tests::check_close(found.write_faults, block_pages);
    CHECK(after(resource, TrimHow::soft, 100).trimmed.bytes == (block_pages + 1) * page_bytes());
}

TEST_CASE("trim dontneed: the contents are lost, of whole pages only", "[machine]")
{
    PageResource resource{model::PageKind::small};
    const Found found = after(resource, TrimHow::dontneed);
    CHECK(found.trimmed.bytes == block_pages * page_bytes());
    CHECK(found.zeroed == block_pages);
    tests::check_close(found.write_faults, block_pages);
    CHECK(after(resource, TrimHow::dontneed, 100).trimmed.bytes == block_pages * page_bytes());
}

TEST_CASE("trim free and cold: nothing is taken while there is memory", "[machine]")
{
    PageResource resource{model::PageKind::small};
    const Found cold = after(resource, TrimHow::cold);
    CHECK(cold.trimmed.bytes == block_pages * page_bytes());
    CHECK(cold.kept == block_pages);
    CHECK((tests::sanitized || cold.write_faults <= 2));
    const Found freed = after(resource, TrimHow::free);
    CHECK(freed.trimmed.bytes == block_pages * page_bytes());
    CHECK(freed.kept + freed.zeroed == block_pages);
}

TEST_CASE("trim: less than a page is nothing where contents would be lost", "[machine]")
{
    PageResource resource{model::PageKind::small};
    const Allocation allocation = resource.allocate(page_bytes(), 16);
    auto* const data = static_cast<unsigned char*>(allocation.ptr);
    std::memset(data, 0x5A, page_bytes());
    CHECK(trim(data + 1, page_bytes() - 1, TrimHow::dontneed).bytes == 0);
    CHECK(data[1] == 0x5A);
    resource.deallocate(allocation.ptr, page_bytes(), 16);
}

TEST_CASE("trim: what the kernel refuses is said", "[machine]")
{
    SharedResource resource{model::PageKind::small};
    CHECK(after(resource, TrimHow::free).trimmed.refused);  // not of a shared mapping; the loader does not let it come
}

}  // namespace memsweep::memory
