// What each resource alone promises.
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <vector>

#include "core/memory/allocator_resources.hpp"
#include "core/memory/page_resources.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace memsweep::memory {
namespace {

using tests::page_bytes;
using tests::resident_pages;

constexpr std::size_t mib = 1U << 20;

}  // namespace

TEST_CASE("malloc: zeroed memory stays untouched, written memory becomes resident", "[machine]")
{
    if (tests::sanitized) {
        std::cout << "skipped: malloc residency: a sanitizer's allocator stands in for malloc\n";
        return;
    }
    MallocResource resource;
    const std::size_t bytes = 64 * mib;
    const Allocation zeroed = resource.allocate_zeroed(bytes, 16);
    CHECK(resident_pages(zeroed.ptr, bytes) <= 1);  // malloc's own header lies on the first page
    const Allocation written = resource.allocate(bytes, 16);
    std::memset(written.ptr, 0, bytes);  // the compiler must not turn these two into calloc
    CHECK(resident_pages(written.ptr, bytes) >= static_cast<std::int64_t>(bytes / page_bytes()));
    resource.deallocate(zeroed.ptr, bytes, 16);
    resource.deallocate(written.ptr, bytes, 16);
}

TEST_CASE("pages: a mapping per allocation, untouched until written, gone when freed", "[machine]")
{
    for (const auto kind : {model::PageKind::system, model::PageKind::small}) {
        PageResource resource{kind};
        const std::size_t bytes = 10 * page_bytes() + 1;
        const Allocation allocation = resource.allocate(bytes, 16);
        CHECK(reinterpret_cast<std::uintptr_t>(allocation.ptr) % page_bytes() == 0);
        CHECK(resident_pages(allocation.ptr, bytes) == 0);
        static_cast<volatile char*>(allocation.ptr)[10 * page_bytes()] = 1;
        if (kind == model::PageKind::small) {
            CHECK(resident_pages(allocation.ptr, bytes) == 1);
        }
        resource.deallocate(allocation.ptr, bytes, 16);
        CHECK(resident_pages(allocation.ptr, bytes) == -1);
    }
}

TEST_CASE("pages: the kernel is told which pages are wanted", "[machine]")
{
    if (!std::ifstream{"/sys/kernel/mm/transparent_hugepage/enabled"}) {
        std::cout << "skipped: huge-page advice: this kernel has no transparent huge pages\n";
        return;
    }
    const auto flags_of = [](model::PageKind kind) {
        PageResource resource{kind};
        const Allocation allocation = resource.allocate(4 * mib, 16);
        const std::string flags = tests::vm_flags(allocation.ptr);
        resource.deallocate(allocation.ptr, 4 * mib, 16);
        return flags;
    };
    CHECK(flags_of(model::PageKind::small).find(" nh ") != std::string::npos);
    CHECK(flags_of(model::PageKind::thp).find(" hg ") != std::string::npos);
    const std::string system = flags_of(model::PageKind::system);
    CHECK(system.find(" rd ") != std::string::npos);
    CHECK(system.find(" hg ") == std::string::npos);
    CHECK(system.find(" nh ") == std::string::npos);
}

TEST_CASE("pages: thp starts large mappings where huge pages can", "[unit]")
{
    PageResource resource{model::PageKind::thp};
    for (const std::size_t bytes : {2 * mib, 2 * mib + 1, 8'000'000UL}) {
        const Allocation allocation = resource.allocate(bytes, 16);
        CHECK(reinterpret_cast<std::uintptr_t>(allocation.ptr) % (2 * mib) == 0);
        resource.deallocate(allocation.ptr, bytes, 16);
    }
}

TEST_CASE("pages: what is mapped to align is trimmed away", "[machine]")
{
    PageResource resource{model::PageKind::small};
    const Allocation warm_up = resource.allocate(3 * mib, 2 * mib);
    resource.deallocate(warm_up.ptr, 3 * mib, 2 * mib);
    std::vector<Allocation> held(50);
    const std::uint64_t before = tests::mapped_bytes();
    for (Allocation& allocation : held) {
        allocation = resource.allocate(3 * mib, 2 * mib);
    }
    CHECK(tests::mapped_bytes() - before == held.size() * 3 * mib);
    for (const Allocation& allocation : held) {
        resource.deallocate(allocation.ptr, 3 * mib, 2 * mib);
    }
    CHECK(tests::mapped_bytes() == before);
}

TEST_CASE("pages: memory goes back even when the kernel has no mapping left to split one with", "[machine]")
{
    std::size_t most{};
    std::ifstream{"/proc/sys/vm/max_map_count"} >> most;
    if (most > 100'000) {
        std::cout << "skipped: exhausted mappings: vm.max_map_count is " << most << ", too many to use up\n";
        return;
    }
    // Neighbouring mappings are merged by the kernel; freeing every other one splits them again, until none is left.
    PageResource resource{model::PageKind::small};
    std::vector<void*> held(2 * most + 4000);
    for (void*& page : held) {
        const Allocation allocation = resource.allocate(page_bytes(), 16);
        REQUIRE(allocation.status == AllocStatus::ok);
        page = allocation.ptr;
    }
    std::size_t kept_addresses = 0;
    for (std::size_t i = 0; i < held.size(); i += 2) {
        const bool last_ones = i + 2000 > held.size();
        if (last_ones) {
            *static_cast<volatile char*>(held[i]) = 1;
        }
        resource.deallocate(held[i], page_bytes(), 16);
        const std::int64_t resident = last_ones ? resident_pages(held[i], page_bytes()) : -1;
        REQUIRE(resident <= 0);
        kept_addresses += resident == 0 ? 1U : 0U;
    }
    CHECK(kept_addresses > 0);  // otherwise this test has not reached what it tests
    for (std::size_t i = 1; i < held.size(); i += 2) {
        resource.deallocate(held[i], page_bytes(), 16);
    }
}

TEST_CASE("null: addresses are distinct and lead nowhere", "[machine]")
{
    NullResource resource;
    std::set<void*> seen;
    for (int i = 0; i < 10'000; ++i) {
        const Allocation allocation = resource.allocate(8'000'000, i % 2 == 0 ? 16 : 4096);
        REQUIRE(seen.insert(allocation.ptr).second);
        REQUIRE(allocation.ptr != nullptr);
    }
    CHECK(resident_pages(*seen.begin(), 1) == -1);
    CHECK(resident_pages(*seen.rbegin(), 1) == -1);
}

}  // namespace memsweep::memory
