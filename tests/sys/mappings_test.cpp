// What the kernel says of a process's pages, held against a process that is known to the page.
#include "core/sys/mappings.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace memsweep::tests::mapped_pages {
namespace {

constexpr std::uint64_t island_pages =
    1400;  // every other page of it: more runs than a scan of the kernel gives at once
constexpr std::uint64_t solid_pages = 37;
constexpr std::uint64_t read_pages = 11;
constexpr std::uint64_t shared_pages = 5;

struct Known {
    char* islands{};
    char* solid{};
    char* read_only_read{};
    char* shared{};
    char* unreached{};
};

char* map(std::uint64_t pages, int flags)
{
    void* const at = ::mmap(nullptr, pages * sys::page_size(), PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    ::madvise(at, pages * sys::page_size(), MADV_NOHUGEPAGE);
    return static_cast<char*>(at);
}

// A copy of this process that stands, and is killed at the end.
class Standing {
  public:
    Standing()
    {
        pid_ = ::fork();
        if (pid_ == 0) {
            for (;;) {
                ::pause();
            }
        }
    }
    Standing(const Standing&) = delete;
    Standing& operator=(const Standing&) = delete;
    ~Standing()
    {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    pid_t pid_{};
};

struct Pages {
    std::uint64_t anonymous{};
    std::uint64_t file{};
    std::uint64_t zero{};
};

Pages pages_in(const sys::AddressSpace& space, const char* begin, std::uint64_t pages)
{
    const auto from = reinterpret_cast<std::uintptr_t>(begin);
    const std::uint64_t to = from + pages * sys::page_size();
    Pages found;
    for (const sys::PageRun& run : space.pages) {
        const std::uint64_t low = std::max<std::uint64_t>(run.begin, from);
        const std::uint64_t high = std::min<std::uint64_t>(run.end, to);
        if (low < high) {
            const std::uint64_t count = (high - low) / sys::page_size();
            found.anonymous += run.state == sys::PageState::anonymous ? count : 0;
            found.file += run.state == sys::PageState::file ? count : 0;
            found.zero += run.state == sys::PageState::zero ? count : 0;
        }
    }
    return found;
}

}  // namespace

TEST_CASE("the pages of a standing process are what it has touched, and add up to its Rss", "[machine]")
{
    const std::uint64_t page = sys::page_size();
    Known known{.islands = map(island_pages, MAP_PRIVATE),
                .solid = map(solid_pages, MAP_PRIVATE),
                .read_only_read = map(read_pages, MAP_PRIVATE),
                .shared = map(shared_pages, MAP_SHARED),
                .unreached = map(100, MAP_PRIVATE)};
    for (std::uint64_t i = 0; i < island_pages; i += 2) {
        known.islands[i * page] = 1;
    }
    for (std::uint64_t i = 0; i < solid_pages; ++i) {
        known.solid[i * page] = 1;
    }
    volatile char sum = 0;
    for (std::uint64_t i = 0; i < read_pages; ++i) {
        sum = static_cast<char>(sum + known.read_only_read[i * page]);
    }
    known.read_only_read[page] = 1;  // so that the kernel counts something of the mapping
    const Standing child;
    const auto by = GENERATE(sys::PagesBy::best, sys::PagesBy::pagemap);
    if (tests::sanitized && by == sys::PagesBy::pagemap) {
        return;  // an entry for each page of the shadow's tebibytes
    }
    const auto space = sys::read_address_space(child.pid(), by);
    REQUIRE(space);
    CHECK(pages_in(*space, known.islands, island_pages).anonymous == island_pages / 2);
    CHECK(pages_in(*space, known.solid, solid_pages).anonymous == solid_pages);
    CHECK(pages_in(*space, known.unreached, 100).anonymous == 0);
    CHECK(space->resident_bytes() == space->rss_bytes());
    CHECK(pages_in(*space, known.read_only_read, read_pages).anonymous == 1);
    const auto area = std::ranges::find_if(space->areas, [&](const sys::MappedArea& one) {
        return one.begin <= reinterpret_cast<std::uintptr_t>(known.solid) &&
               reinterpret_cast<std::uintptr_t>(known.solid) < one.end;
    });
    REQUIRE(area != space->areas.end());
    CHECK(area->permissions == "rw-p");
    CHECK(area->is_writable());
    CHECK(space->page_tables_bytes >= page);
    CHECK(std::ranges::any_of(space->areas, [](const sys::MappedArea& one) { return one.name == "[stack]"; }));

    const auto memory = sys::ForeignMemory::open(child.pid());
    REQUIRE(memory);
    char byte = 0;
    CHECK(memory->read(reinterpret_cast<std::uintptr_t>(known.solid), &byte, 1) == 1);
    CHECK(byte == 1);
    CHECK(memory->read(0, &byte, 1) == 0);
}

TEST_CASE("shared memory is pages of a file to the kernel, where they are mapped", "[machine]")
{
    char* const shared = map(shared_pages, MAP_SHARED);
    for (std::uint64_t i = 0; i < shared_pages; ++i) {
        shared[i * sys::page_size()] = 1;
    }
    const auto space = sys::read_address_space(::getpid());
    REQUIRE(space);
    CHECK(pages_in(*space, shared, shared_pages).file == shared_pages);
}

TEST_CASE("a process that is gone is an error that names its file", "[unit]")
{
    const pid_t gone = [] {
        const Standing child;
        return child.pid();
    }();
    const auto space = sys::read_address_space(gone);
    REQUIRE(!space);
    CHECK(space.error().where.find(std::to_string(gone)) != std::string::npos);
}

TEST_CASE("smaps is read to values", "[unit]")
{
    const auto areas = sys::parse_smaps(
        "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]\n"
        "Size:                132 kB\nRss:                  12 kB\nPss:                   6 kB\n"
        "Anonymous:            12 kB\nAnonHugePages:         0 kB\nSwap:                  4 kB\n"
        "VmFlags: rd wr mr mw me ac dd\n"
        "7f0000000000-7f0000001000 r-xp 00001000 08:01 77                         /a b/lib c.so (deleted)\n"
        "Rss:                   4 kB\nVmFlags: rd ex pf\n");
    REQUIRE(areas);
    REQUIRE(areas->size() == 2);
    const sys::MappedArea& heap = areas->front();
    CHECK(heap.begin == 0x55d0c0000000);
    CHECK(heap.size() == 132 * 1024);
    CHECK(heap.name == "[heap]");
    CHECK(heap.rss_bytes == 12 * 1024);
    CHECK(heap.pss_bytes == 6 * 1024);
    CHECK(heap.swapped_bytes == 4 * 1024);
    CHECK(heap.is_left_out_of_dumps);
    CHECK(areas->back().name == "/a b/lib c.so (deleted)");
    CHECK(areas->back().inode == 77);
    CHECK(areas->back().is_executable());
    CHECK(areas->back().is_of_device);
    for (const char* const text : {"nonsense\n", "7f0000001000-7f0000000000 r-xp 00001000 08:01 77 x\n",
                                   "2000-3000 rw-p 0 0:0 0\n1000-2000 rw-p 0 0:0 0\n"}) {
        const auto refused = sys::parse_smaps(text);
        REQUIRE(!refused);
        CHECK(refused.error().code == base::ErrorCode::invalid_input);
    }
}

}  // namespace memsweep::tests::mapped_pages
