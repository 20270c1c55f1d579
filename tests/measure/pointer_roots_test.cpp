// Which pages of an address space that is made up count as roots, by page.
#include "core/measure/pointer_roots.hpp"

#include <vector>

#include "tests/support/catch.hpp"

namespace memsweep::tests::roots {
using namespace measure;
namespace {

constexpr std::uint64_t page = 4096;

sys::MappedArea area(std::uint64_t first, std::uint64_t pages, const char* name, const char* permissions = "rw-p")
{
    sys::MappedArea one{.begin = first * page, .end = (first + pages) * page};
    one.permissions = permissions;
    one.name = name;
    return one;
}

sys::PageRun run(std::uint64_t first, std::uint64_t pages, sys::PageState state = sys::PageState::anonymous)
{
    return {.begin = first * page, .end = (first + pages) * page, .state = state, .is_huge = false};
}

struct Made {
    sys::AddressSpace space;
    std::vector<HeldBlock> blocks{};
    std::vector<CoveredPages> covered{};
    std::vector<MapperRange> mappers{};
    std::vector<StackRange> stacks{};

    [[nodiscard]] std::vector<std::uint64_t> root_pages() const
    {
        std::vector<std::uint64_t> pages;
        for (const AddressRange& root : pointer_roots({.space = &space,
                                        .page_bytes = page,
                                        .blocks = blocks,
                                        .covered = covered,
                                        .mappers = mappers,
                                        .stacks = stacks,
                                        .zero_parts = {},
                                        .recorder_library = "/lib/recorder.so",
                                        .recorder_folder = "/tmp/folder"})) {
            for (std::uint64_t at = root.begin; at < root.end; at += page) {
                pages.push_back(at / page);
            }
        }
        return pages;
    }
};

using Pages = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("roots: what a program maps beside a block that malloc has mapped is one all the same", "[unit]")
{
    Made made;
    made.space.areas = {area(100, 20, "")};
    made.space.pages = {run(100, 20)};
    made.blocks = {{.address = 104 * page + 16, .requested = 3 * page, .usable = 4 * page - 16, .header = 16}};
    made.mappers = {{100 * page, 104 * page, false}, {110 * page, 112 * page, false}};
    made.covered = {{112 * page, 114 * page, 0}};  // what was freed points to what was
    CHECK(made.root_pages() == Pages{100, 101, 102, 103, 108, 109, 110, 111, 114, 115, 116, 117, 118, 119});
}

TEST_CASE("roots: an allocator's mapping is none where blocks lie or lay in it", "[unit]")
{
    Made made;
    made.space.areas = {area(100, 20, "")};
    made.space.pages = {run(100, 20)};
    made.blocks = {{.address = 102 * page, .requested = 64, .usable = 64}};
    made.covered = {{108 * page, 109 * page, 0}};
    made.mappers = {{100 * page, 104 * page, true}, {106 * page, 112 * page, true}, {112 * page, 118 * page, true}};
    CHECK(made.root_pages() == Pages{104, 105, 112, 113, 114, 115, 116, 117, 118, 119});
}

TEST_CASE("roots: all that is written is one, and nothing of the recorder's", "[unit]")
{
    Made made;
    made.space.areas = {area(10, 4, "/bin/x", "r-xp"),
                        area(14, 2, "/bin/x", "rw-p"),
                        area(16, 2, "", "rw-p"),  // its data
                        area(20, 2, "", "r--p"),  // a table that is not written any more
                        area(30, 2, "/data/file", "rw-s"),
                        area(40, 2, "[heap]", "rw-p"),
                        area(50, 4, "/lib/recorder.so", "rw-p"),
                        area(60, 2, "/tmp/folder/5.0.mst", "rw-s"),
                        area(70, 3, "", "rw-p")};
    made.space.pages = {run(10, 4, sys::PageState::file),
                        run(14, 1, sys::PageState::file),
                        run(15, 3),
                        run(20, 2),
                        run(30, 2, sys::PageState::file),
                        run(40, 2),
                        run(50, 4),
                        run(60, 2, sys::PageState::file),
                        run(70, 1, sys::PageState::zero),
                        run(71, 1, sys::PageState::swapped)};
    made.blocks = {{.address = 40 * page + 16, .requested = 64, .usable = 72, .header = 8}};
    made.stacks = {{80 * page, 81 * page, true}, {82 * page, 83 * page, false}};
    CHECK(made.root_pages() == Pages{14, 15, 16, 17, 20, 21, 30, 31, 41, 71, 80});
}

TEST_CASE("roots: a library's data is one where a block had been mapped that is gone", "[unit]")
{
    Made made;
    made.space.areas = {area(14, 2, "/lib/x.so", "r-xp"), area(16, 4, "", "rw-p")};
    made.space.pages = {run(16, 4)};
    made.covered = {{16 * page, 18 * page, 0}};
    CHECK(made.root_pages() == Pages{16, 17, 18, 19});
    made.mappers = {{17 * page, 18 * page, true}};
    CHECK(made.root_pages() == Pages{16, 18, 19});
}

}  // namespace memsweep::tests::roots
