// Prefetches and streams by the kernel's word: which pages are there before anything has used them, and after.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/memory/page_resources.hpp"
#include "core/memory/paging.hpp"
#include "core/sys/descriptor.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/sys/fault_count.hpp"

namespace memsweep::memory {
namespace {

using model::PrefetchHow;
using tests::page_bytes;

constexpr std::size_t pages = 128;

std::size_t block_bytes()
{
    return pages * page_bytes();
}

// Page-table entries of the range, by /proc/self/pagemap: present, or not.
std::size_t mapped_pages(const void* ptr, std::size_t size)
{
    const sys::UniqueFd pagemap{::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};  // whole entries only: no stream
    std::vector<std::uint64_t> entries(size / page_bytes());
    const std::size_t wanted = entries.size() * sizeof(std::uint64_t);
    const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(ptr) / page_bytes() * sizeof(std::uint64_t));
    REQUIRE(::pread(pagemap.get(), entries.data(), wanted, at) == static_cast<ssize_t>(wanted));
    return static_cast<std::size_t>(
        std::ranges::count_if(entries, [](std::uint64_t entry) { return entry >> 63U != 0; }));
}

void write_every_page(void* ptr, std::size_t size)
{
    for (std::size_t at = 0; at < size; at += page_bytes()) {
        static_cast<volatile unsigned char*>(ptr)[at] = 1;
    }
}

}  // namespace

TEST_CASE("prefetch: populated for writing, no page faults when it is written, and contents stay", "[machine]")
{
    PageResource resource{model::PageKind::small};
    const Allocation made = resource.allocate(block_bytes(), 16);
    auto* const data = static_cast<unsigned char*>(made.ptr);
    data[5] = 77;
    CHECK(mapped_pages(made.ptr, block_bytes()) == 1);
    const PagesAdvised got = prefetch(made.ptr, block_bytes(), PrefetchHow::populate_write);
    if (got.refused) {
        std::printf("skipped: MADV_POPULATE_WRITE: this kernel does not know it\n");
        resource.deallocate(made.ptr, block_bytes(), 16);
        return;
    }
    CHECK(got.bytes == block_bytes());
    CHECK(mapped_pages(made.ptr, block_bytes()) == pages);
    CHECK(tests::resident_pages(made.ptr, block_bytes()) == pages);
    CHECK(data[5] == 77);
    tests::check_no_faults(tests::faults_of([&] { write_every_page(made.ptr, block_bytes()); }), pages);
    resource.deallocate(made.ptr, block_bytes(), 16);
}

TEST_CASE("prefetch: fresh private pages populated for reading are as if they had been read", "[machine]")
{
    const auto faults_of_writing_after = [](const auto& read) {
        PageResource resource{model::PageKind::small};
        const Allocation made = resource.allocate(block_bytes(), 16);
        std::optional<std::uint64_t> faults;
        if (read(made.ptr)) {
            CHECK(mapped_pages(made.ptr, block_bytes()) == pages);
            faults = tests::faults_of([&] { write_every_page(made.ptr, block_bytes()); });
        }
        resource.deallocate(made.ptr, block_bytes(), 16);
        return faults;
    };
    const auto by_hand = faults_of_writing_after([](void* ptr) {
        for (std::size_t at = 0; at < block_bytes(); at += page_bytes()) {
            CHECK(static_cast<const volatile unsigned char*>(ptr)[at] == 0);
        }
        return true;
    });
    const auto populated = faults_of_writing_after([](void* ptr) {
        const PagesAdvised got = prefetch(ptr, block_bytes(), PrefetchHow::populate_read);
        CHECK((got.refused || got.bytes == block_bytes()));
        return !got.refused;
    });
    // Most kernels map the page of zeroes, so that each write faults again; some give a page of its own at once. A
    // sanitizer's shadow memory faults too, unless reading by hand has touched it.
    if (populated && !tests::sanitized) {
        CHECK((*populated >= pages) == (*by_hand >= pages));
    }
}

TEST_CASE("prefetch: what a soft trim took comes back without a fault", "[machine]")
{
    SharedResource resource{model::PageKind::small};
    const Allocation made = resource.allocate(block_bytes(), 16);
    std::memset(made.ptr, 0x5A, block_bytes());
    REQUIRE(::madvise(made.ptr, block_bytes(), MADV_DONTNEED) == 0);
    CHECK(mapped_pages(made.ptr, block_bytes()) == 0);
    CHECK(prefetch(made.ptr, block_bytes(), PrefetchHow::willneed).bytes == block_bytes());
    CHECK(tests::resident_pages(made.ptr, block_bytes()) == pages);  // of the page cache; willneed maps nothing
    if (!prefetch(made.ptr, block_bytes(), PrefetchHow::populate_write).refused) {
        CHECK(mapped_pages(made.ptr, block_bytes()) == pages);
    }
    CHECK(static_cast<unsigned char*>(made.ptr)[block_bytes() - 1] == 0x5A);
    resource.deallocate(made.ptr, block_bytes(), 16);
}

TEST_CASE("prefetch: the pages that a block shares at its ends count whole, none and nothing count nothing", "[unit]")
{
    PageResource resource{model::PageKind::small};
    const Allocation made = resource.allocate(block_bytes(), 16);
    auto* const inside = static_cast<std::byte*>(made.ptr) + page_bytes() - 1;
    CHECK(prefetch(inside, 2, PrefetchHow::willneed).bytes == 2 * page_bytes());
    CHECK(prefetch(inside, 0, PrefetchHow::willneed).bytes == 0);
    CHECK(prefetch(inside, 2, PrefetchHow::none).bytes == 0);
    resource.deallocate(made.ptr, block_bytes(), 16);
}

TEST_CASE("stream: every byte once and in order, whatever the chunk; the last chunk is short", "[unit]")
{
    std::vector<std::byte> memory(10 * page_bytes() + 100);
    for (const std::uint64_t chunk : {page_bytes(), 3 * page_bytes(), 100 * page_bytes()}) {
        std::byte* expected = memory.data();
        CHECK(stream(memory.data(), memory.size(), {.chunk_bytes = chunk, .ahead = 2},
                     [&](std::byte* at, std::uint64_t length) {
                         CHECK(at == expected);
                         CHECK(length <= chunk);
                         expected = at + length;
                     }));
        CHECK(expected == memory.data() + memory.size());
    }
}

TEST_CASE("stream: with drop_behind no more than the chunk in use and those ahead stay in memory", "[machine]")
{
    constexpr std::size_t chunk = 512 * 4096;  // file systems keep several of smaller ones in one folio
    constexpr std::size_t whole = 40 * chunk;
    const std::string folder = std::filesystem::current_path();
    FileResource resource{folder};
    const Allocation made = resource.allocate(whole, 16);
    REQUIRE(made.status == AllocStatus::ok);
    for (const bool writes : {true, false}) {
        std::int64_t most = 0;
        std::uint64_t wrong = 0;
        const bool dropped = stream(static_cast<std::byte*>(made.ptr), whole,
                                    {.chunk_bytes = chunk, .ahead = 1, .drop_behind = true, .writes = writes},
                                    [&](std::byte* at, std::uint64_t length) {
                                        if (writes) {
                                            std::memset(at, 0x5A, length);
                                        }
                                        for (std::uint64_t i = 0; i < length; i += 512) {
                                            wrong += at[i] == std::byte{0x5A} ? 0U : 1U;
                                        }
                                        most = std::max<std::int64_t>(most, tests::resident_pages(made.ptr, whole));
                                    });
        INFO((writes ? "writing" : "reading") << " in " << folder);
        CHECK(dropped);
        CHECK(wrong == 0);
        // Reading ahead of a file system may go beyond what was asked for, by less than the chunks themselves.
        CHECK(most <= static_cast<std::int64_t>(8 * chunk / page_bytes()));
        CHECK(static_cast<std::size_t>(most) >= chunk / page_bytes());
    }
    resource.deallocate(made.ptr, whole, 16);
}

}  // namespace memsweep::memory
