// Pages where they were asked for, by the kernel's word; and refusals that say which limit was met.
#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

#include "core/memory/adaptors.hpp"
#include "core/memory/page_resources.hpp"
#include "core/memory/stack.hpp"
#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace memsweep::memory {
namespace {

constexpr std::size_t bytes = 64 * 4096;

std::size_t pages_there(const void* ptr)
{
    const auto found = sys::pages_by_node(ptr, bytes);
    return found ? bytes / 4096 - found->not_resident : 0;
}

// The number after `key` in the entry of /proc/self/smaps that begins at `ptr`; -1: there is none.
long smaps_kib(const void* ptr, const std::string& key)
{
    std::ifstream smaps{"/proc/self/smaps"};
    std::array<char, 32> start{};
    std::snprintf(start.data(), start.size(), "%lx-", reinterpret_cast<unsigned long>(ptr));
    bool here = false;
    for (std::string line; std::getline(smaps, line);) {
        if (line.find('-') < line.find(' ')) {
            here = line.starts_with(start.data());
        } else if (here && line.starts_with(key + ":")) {
            return std::stol(line.substr(key.size() + 1));
        }
    }
    return -1;
}

void print_skipped(const std::string& what, const std::string& why)
{
    std::printf("skipped: %s: %s\n", what.c_str(), why.c_str());
}

// The exit status of `body` in a process of its own, so that limits and capabilities can be dropped there.
template <typename Body>
int in_child(const Body& body)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(body());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void drop_capability(int capability)
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    ::syscall(SYS_capget, &header, sets.data());
    sets[static_cast<std::size_t>(capability / 32)].effective &= ~(1U << (capability % 32));
    ::syscall(SYS_capset, &header, sets.data());
}

struct Placed {
    explicit Placed(const PlacementAdaptor::Wishes& wishes)
        : adaptor{pages, {wishes.numa, wishes.populated, wishes.locked, page_bytes_of(model::PageKind::small)}}
    {
    }
    PageResource pages{model::PageKind::small};
    PlacementAdaptor adaptor;
};

}  // namespace

TEST_CASE("placement: populated pages are there before the first touch, others are not", "[machine]")
{
    Placed populated{{{}, true, false}};
    Placed lazy{{{}, false, false}};
    const Allocation there = populated.adaptor.allocate(bytes, 16);
    const Allocation not_yet = lazy.adaptor.allocate(bytes, 16);
    CHECK(pages_there(there.ptr) == 64);
    CHECK(pages_there(not_yet.ptr) == 0);
    populated.adaptor.deallocate(there.ptr, bytes, 16);
    lazy.adaptor.deallocate(not_yet.ptr, bytes, 16);
}

TEST_CASE("placement: locked memory counts as locked, and no more once it is freed", "[machine]")
{
    if (tests::sanitized) {
        print_skipped("locked memory", "a sanitizer answers mlock itself and locks nothing");
        return;
    }
    Placed locked{{{}, false, true}};
    const Allocation made = locked.adaptor.allocate(bytes, 16);
    if (made.status == AllocStatus::lock_limit) {
        print_skipped("locked memory", "RLIMIT_MEMLOCK is below 256 KiB here");
        return;
    }
    REQUIRE(made.status == AllocStatus::ok);
    CHECK(smaps_kib(made.ptr, "Locked") == bytes / 1024);
    CHECK(pages_there(made.ptr) == 64);
    locked.adaptor.deallocate(made.ptr, bytes, 16);
}

TEST_CASE("placement: over the limit of locked memory, without CAP_IPC_LOCK, the error names it", "[machine]")
{
    if (tests::sanitized) {
        print_skipped("locked memory", "a sanitizer answers mlock itself and locks nothing");
        return;
    }
    const int outcome = in_child([] {
        drop_capability(CAP_IPC_LOCK);
        const rlimit limit{4096, 4096};
        if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
            return 77;
        }
        Placed locked{{{}, false, true}};
        const Allocation made = locked.adaptor.allocate(bytes, 16);
        return made.ptr == nullptr && made.status == AllocStatus::lock_limit ? 0 : 1;
    });
    CHECK(outcome == 0);
    CHECK(std::string{describe(AllocStatus::lock_limit)}.find("RLIMIT_MEMLOCK") != std::string::npos);
    CHECK(std::string{describe(AllocStatus::lock_limit)}.find("ulimit -l") != std::string::npos);
}

TEST_CASE("placement: pages lie on the node asked for", "[machine]")
{
    for (const auto policy : {model::NumaPolicy::bind, model::NumaPolicy::preferred, model::NumaPolicy::interleave}) {
        INFO("policy " << model::name_of(policy));
        Placed bound{{{policy, 1}, true, false}};
        const Allocation made = bound.adaptor.allocate(bytes, 16);
        REQUIRE(made.status == AllocStatus::ok);
        const auto found = sys::pages_by_node(made.ptr, bytes);
        REQUIRE(found);
        REQUIRE(found->pages == std::map<std::uint32_t, std::uint64_t>{{0, bytes / 4096}});
        bound.adaptor.deallocate(made.ptr, bytes, 16);
    }
}

TEST_CASE("placement: an unknown node is refused and named", "[machine]")
{
    Placed nowhere{{{model::NumaPolicy::bind, std::uint64_t{1} << 63U}, false, false}};
    const Allocation made = nowhere.adaptor.allocate(bytes, 16);
    CHECK(made.ptr == nullptr);
    CHECK(made.status == AllocStatus::no_such_node);
    CHECK(std::string{describe(made.status)}.find("numactl --hardware") != std::string::npos);
}

TEST_CASE("huge pages: what is not reserved is refused and named; what is, is huge by the kernel's word", "[machine]")
{
    PageResource pages{model::PageKind::huge_2m};
    const Allocation made = pages.allocate(1, 16);
    std::ifstream file{"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"};
    long free_pages = 0;
    file >> free_pages;
    if (made.status == AllocStatus::ok) {
        CHECK(smaps_kib(made.ptr, "KernelPageSize") == 2048);
        std::memset(made.ptr, 1, 2U << 20U);
        pages.deallocate(made.ptr, 1, 16);
    } else {
        CHECK(free_pages == 0);
        CHECK(made.status == AllocStatus::no_huge_pages_2m);
        CHECK(std::string{describe(made.status)}.find("nr_hugepages") != std::string::npos);
        print_skipped("memory in reserved huge pages", "none are reserved; echo 4 > /proc/sys/vm/nr_hugepages");
    }
}

TEST_CASE("shared memory: another process opens it by name and sees what is written", "[machine]")
{
    FileResource shm{""};
    const Allocation made = shm.allocate(bytes, 16);
    REQUIRE(made.status == AllocStatus::ok);
    std::memcpy(made.ptr, "memsweep", 9);
    const std::string name = shared_memory_name(::getpid(), made.ptr);
    const int outcome = in_child([&] {
        const int fd = ::shm_open(name.c_str(), O_RDWR, 0);
        void* const seen = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (seen == MAP_FAILED || std::memcmp(seen, "memsweep", 9) != 0) {
            return 1;
        }
        std::memcpy(seen, "answered", 9);
        return 0;
    });
    CHECK(outcome == 0);
    CHECK(std::memcmp(made.ptr, "answered", 9) == 0);
    shm.deallocate(made.ptr, bytes, 16);
    CHECK(::shm_open(name.c_str(), O_RDWR, 0) == -1);
}

TEST_CASE("shared memory: names that a dead process left are removed, others stay", "[machine]")
{
    FileResource shm{""};
    const Allocation own = shm.allocate(bytes, 16);
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        static_cast<void>(shm.allocate(bytes, 16));
        static_cast<void>(shm.allocate(bytes, 16));
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    CHECK(remove_shared_memory_of(child) == 2);
    CHECK(remove_shared_memory_of(child) == 0);
    const int fd = ::shm_open(shared_memory_name(::getpid(), own.ptr).c_str(), O_RDWR, 0);
    CHECK(fd >= 0);
    ::close(fd);
    shm.deallocate(own.ptr, bytes, 16);
}

TEST_CASE("shared memory: a full /dev/shm refuses the allocation instead of killing at the touch", "[machine]")
{
    const int outcome = in_child([] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m") != 0) {
            return 77;
        }
        FileResource shm{""};
        const Allocation fits = shm.allocate(512 << 10, 16);
        const Allocation full = shm.allocate(600 << 10, 16);
        if (fits.status != AllocStatus::ok || full.status != AllocStatus::shm_full) {
            return 1;
        }
        std::memset(fits.ptr, 1, 512 << 10);
        shm.deallocate(fits.ptr, 512 << 10, 16);
        return shm.allocate(600 << 10, 16).status == AllocStatus::ok ? 0 : 2;
    });
    if (outcome == 77) {
        print_skipped("a full /dev/shm", "it takes the right to mount (root)");
        return;
    }
    CHECK(outcome == 0);
    CHECK(std::string{describe(AllocStatus::shm_full)}.find("remount,size=") != std::string::npos);
}

TEST_CASE("file mappings: nothing is left in the folder, and a folder that cannot hold files is named", "[machine]")
{
    FileResource files{"/tmp"};
    const Allocation made = files.allocate(bytes, 16);
    REQUIRE(made.status == AllocStatus::ok);
    std::memset(made.ptr, 7, bytes);
    files.deallocate(made.ptr, bytes, 16);
    FileResource nowhere{"/nonexistent/folder"};
    CHECK(nowhere.allocate(bytes, 16).status == AllocStatus::disk_full);
}

}  // namespace memsweep::memory
