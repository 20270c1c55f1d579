#include "core/sys/page_ops.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/mman.h>

#include "core/sys/process_probe.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/allocation_count.hpp"
#include "tests/sys/fault_count.hpp"
#include "tests/sys/small_pages.hpp"

using namespace memsweep;
using tests::mib;
using tests::small_pages;

TEST_CASE("touching N fresh pages costs N minor faults, touching them again none", "[machine]")
{
    const std::uint64_t pages = GENERATE(1U, 7U, 4096U);
    const sys::Mapping mapping = small_pages(pages * sys::page_size());
    std::uint64_t touched = 0;
    tests::check_close(tests::faults_of([&] { touched = sys::touch_pages(mapping.data(), mapping.size()); }), pages);
    CHECK(touched == pages);
    tests::check_no_faults(tests::faults_of([&] { sys::touch_pages(mapping.data(), mapping.size()); }), pages);
}

namespace {

// Bytes of the mappings of this program's own file that are not resident.
std::uint64_t not_resident_of_this_program()
{
    const std::string own = std::filesystem::read_symlink("/proc/self/exe");
    std::ifstream smaps{"/proc/self/smaps"};
    std::string word;
    std::uint64_t missing{};
    bool is_own{};
    for (std::string line; std::getline(smaps, line);) {
        std::istringstream fields{line};
        std::uint64_t kib{};
        fields >> word;
        if (!word.ends_with(':')) {
            is_own = line.ends_with(own);
        } else if (is_own && fields >> kib && (word == "Size:" || word == "Rss:")) {
            missing += word == "Size:" ? kib * 1024 : -kib * 1024;
        }
    }
    return missing;
}

}  // namespace

TEST_CASE("every page of the program's own file is resident once it was populated", "[machine]")
{
    sys::populate_program();
    CHECK(not_resident_of_this_program() == 0);
}

TEST_CASE("touching counts every page that the range overlaps", "[machine]")
{
    const std::uint64_t page = sys::page_size();
    const sys::Mapping mapping = small_pages(4 * page);
    CHECK(sys::touch_pages(mapping.data(), 0) == 0);
    CHECK(sys::touch_pages(mapping.data(), 1) == 1);
    CHECK(sys::touch_pages(mapping.data(), page) == 1);
    CHECK(sys::touch_pages(mapping.data(), page + 1) == 2);
    CHECK(sys::touch_pages(mapping.data() + page - 1, 1) == 1);
    CHECK(sys::touch_pages(mapping.data() + page - 1, 2) == 2);
    CHECK(sys::touch_pages(mapping.data() + 1, page) == 2);
    CHECK(sys::touch_pages(mapping.data() + 1, 3 * page) == 4);
}

TEST_CASE("touching writes one zero byte per page, inside the range", "[machine]")
{
    const std::uint64_t page = sys::page_size();
    const sys::Mapping mapping = small_pages(3 * page);
    std::memset(mapping.data(), 0x55, mapping.size());
    sys::touch_pages(mapping.data() + 10, 2 * page - 10);
    std::uint64_t zeros = 0;
    for (std::uint64_t i = 0; i < mapping.size(); ++i) {
        zeros += mapping.data()[i] == std::byte{0} ? 1U : 0U;
    }
    CHECK(zeros == 2);
    CHECK(mapping.data()[10] == std::byte{0});
    CHECK(mapping.data()[page] == std::byte{0});
}

TEST_CASE("a mapping is whole pages of zeros and is unmapped once", "[machine]")
{
    const std::uint64_t page = sys::page_size();
    CHECK(page >= 4096);
    CHECK((page & (page - 1)) == 0);
    std::byte* where = nullptr;
    {
        auto mapping = sys::Mapping::anonymous(page + 1);
        REQUIRE(mapping);
        CHECK(mapping->size() == 2 * page);
        where = mapping->data();
        CHECK(where[2 * page - 1] == std::byte{0});
        const sys::Mapping moved{std::move(*mapping)};
        CHECK(moved.data() == where);
        CHECK(mapping->data() == nullptr);
    }
    std::array<unsigned char, 2> resident{};
    CHECK(::mincore(where, 2 * page, resident.data()) == -1);
    CHECK(errno == ENOMEM);
}

TEST_CASE("a mapping of nothing, or of more than there is address space, is an error", "[machine]")
{
    const auto empty = sys::Mapping::anonymous(0);
    REQUIRE_FALSE(empty);
    CHECK(empty.error().code == base::ErrorCode::invalid_input);
    for (const std::uint64_t bytes : {1ULL << 62, ~0ULL}) {
        const auto huge = sys::Mapping::anonymous(bytes);
        REQUIRE_FALSE(huge);
        CHECK(huge.error().code == base::ErrorCode::os);
        CHECK(base::describe(huge.error()).find("memory") != std::string::npos);
    }
}

TEST_CASE("memory advised away reads as zeros and faults anew", "[machine]")
{
    const sys::Mapping mapping = small_pages(mib);
    std::memset(mapping.data(), 0x55, mapping.size());
    REQUIRE(sys::advise(mapping.data(), mapping.size(), sys::Advice::dont_need));
    tests::check_close(tests::faults_of([&] { sys::touch_pages(mapping.data(), mapping.size()); }),
                       mib / sys::page_size());
    CHECK(mapping.data()[mib / 2 + 1] == std::byte{0});
}

TEST_CASE("populated memory keeps its contents and faults no more", "[machine]")
{
    const sys::Mapping mapping = small_pages(mib);
    mapping.data()[5] = std::byte{42};
    const auto populated = sys::advise(mapping.data(), mapping.size(), sys::Advice::populate_write);
    if (!populated) {
        CHECK(populated.error().code == base::ErrorCode::not_supported);
        WARN("left out: MADV_POPULATE_WRITE needs Linux 5.14");
        return;
    }
    CHECK(mapping.data()[5] == std::byte{42});
    tests::check_no_faults(tests::faults_of([&] { sys::touch_pages(mapping.data(), mapping.size()); }),
                           mib / sys::page_size());
}

TEST_CASE("advice off a page boundary or for unmapped memory is an error that names the advice", "[machine]")
{
    const sys::Mapping mapping = small_pages(mib);
    const auto crooked = sys::advise(mapping.data() + 1, 10, sys::Advice::dont_need);
    REQUIRE_FALSE(crooked);
    CHECK(crooked.error().code == base::ErrorCode::invalid_input);
    const auto page = reinterpret_cast<std::uintptr_t>(mapping.data()) % sys::page_size();
    CHECK(page == 0);
    const auto nowhere = sys::advise(nullptr, sys::page_size(), sys::Advice::dont_need);
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().code == base::ErrorCode::os);
    CHECK(nowhere.error().message.find("MADV_DONTNEED") != std::string::npos);
}

TEST_CASE("prefaulting writes every page and keeps none", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    const auto before = probe->snapshot();
    const auto written = sys::prefault_machine_memory(64 * mib);
    const auto after = probe->snapshot();
    REQUIRE((before && after));
    CHECK(written == 64 * mib);
    CHECK(after->minor_faults > before->minor_faults);
    CHECK(after->rss_bytes < before->rss_bytes + 48 * mib);
    CHECK(sys::prefault_machine_memory(0) == 0);
    CHECK_FALSE(sys::prefault_machine_memory(1ULL << 62));
}
