// The rule by which glibc's blocks are larger than what was asked for, held against glibc.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include "core/base/rng.hpp"
#include "core/trace/usable_size.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {
namespace {

// Sanitizers and preloaded allocators bring their own.
bool is_glibcs_malloc()
{
    Dl_info info{};
    return dladdr(reinterpret_cast<void*>(&std::malloc), &info) != 0 &&
           std::string_view{info.dli_fname}.find("libc.so") != std::string_view::npos;
}

bool holds(const trace::UsableRange& range, std::uint64_t usable)
{
    return usable >= range.least && usable <= range.most;
}

// As its mapping's first block lies.
bool may_have_mapping(const void* block, std::uint64_t page)
{
    return reinterpret_cast<std::uintptr_t>(block) % page == trace::glibc::mapped_header;
}

}  // namespace

TEST_CASE("the rule of glibc's sizes, where it is known by heart", "[unit]")
{
    CHECK(trace::glibc::usable_in_heap(0) == trace::UsableRange{24, 40});
    CHECK(trace::glibc::usable_in_heap(24) == trace::UsableRange{24, 40});
    CHECK(trace::glibc::usable_in_heap(25) == trace::UsableRange{40, 56});
    CHECK(trace::glibc::usable_in_heap(1000, 64) == trace::UsableRange{1000, 1032});
    CHECK(trace::glibc::usable_in_mapping(1 << 20, 4096) == trace::UsableRange{(1 << 20) + 4080, (1 << 20) + 4080});
    CHECK(trace::glibc::usable_in_heap(UINT64_MAX).least <= UINT64_MAX / 2);
}

TEST_CASE("what glibc says of its blocks is what the rule says", "[unit]")
{
    if (!is_glibcs_malloc()) {
        WARN("left out: malloc is not glibc's");
        return;
    }
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    base::Rng random{7};
    std::vector<void*> live(2'000);
    for (int i = 0; i < 200'000; ++i) {
        void*& block = live[random.below(live.size())];
        std::free(block);
        const std::uint64_t size = random.below(i % 50 == 0 ? 600'000 : 3'000);
        const std::uint64_t alignment = i % 5 == 0 ? std::uint64_t{32} << random.below(8) : 0;
        block = alignment == 0 ? std::malloc(size) : nullptr;
        if (alignment != 0 && posix_memalign(&block, alignment, size) != 0) {
            block = nullptr;
            continue;
        }
        const std::uint64_t usable = malloc_usable_size(block);
        const bool is_in_heap = holds(trace::glibc::usable_in_heap(size, alignment), usable);
        const bool is_mapped = (alignment != 0 || may_have_mapping(block, page)) &&
                               holds(trace::glibc::usable_in_mapping(size, page, alignment), usable);
        CAPTURE(size, alignment, usable);
        REQUIRE((is_in_heap || (is_mapped && size > 100'000)));
    }
    for (void* const block : live) {
        std::free(block);
    }
}

}  // namespace memsweep::tests
