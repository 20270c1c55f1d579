// The ledger of address spaces that are made up, against what each page is known to be.
#include "core/measure/memory_ledger.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "core/base/rng.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests::ledgers {
using namespace measure;
namespace {

constexpr std::uint64_t page = 4096;
using Category = MemoryCategory;

sys::MappedArea area(std::uint64_t first, std::uint64_t pages, const char* name, const char* permissions = "rw-p",
                     std::uint64_t resident = 0)
{
    sys::MappedArea one{.begin = first * page, .end = (first + pages) * page};
    one.permissions = permissions;
    one.name = name;
    one.rss_bytes = resident * page;
    return one;
}

sys::PageRun run(std::uint64_t first, std::uint64_t pages, sys::PageState state = sys::PageState::anonymous,
                 bool is_huge = false)
{
    return {.begin = first * page, .end = (first + pages) * page, .state = state, .is_huge = is_huge};
}

struct Made {
    sys::AddressSpace space;
    std::vector<HeldBlock> blocks{};
    std::vector<CoveredPages> covered{};
    std::vector<MapperRange> mappers{};
    std::vector<StackRange> stacks{};
    std::vector<AddressRange> zeroes{};
    std::size_t sites{3};
    std::size_t most_cells{50};

    [[nodiscard]] MemoryLedger ledger() const
    {
        return memory_ledger({.space = &space,
                              .page_bytes = page,
                              .blocks = blocks,
                              .covered = covered,
                              .mappers = mappers,
                              .stacks = stacks,
                              .zero_parts = zeroes,
                              .recorder_library = "/lib/recorder.so",
                              .recorder_folder = "/tmp/folder",
                              .sites = sites,
                              .most_cells = most_cells});
    }
};

}  // namespace

TEST_CASE("ledger: mappings are what their names say", "[unit]")
{
    Made made;
    made.space.areas = {area(10, 4, "/bin/x", "r-xp", 4),
                        area(14, 2, "/bin/x", "rw-p", 2),
                        area(16, 2, "", "rw-p", 2),
                        area(30, 3, "/data/big.csv", "r--p", 3),
                        area(40, 2, "/memfd:x (deleted)", "rw-s", 2),
                        area(50, 4, "/lib/recorder.so", "rw-p", 4),
                        area(54, 1, "", "rw-p", 1),
                        area(60, 2, "/tmp/folder/5.0.mst", "rw-s", 2),
                        area(70, 5, "[stack]", "rw-p", 3),
                        area(80, 2, "[vdso]", "r-xp", 1),
                        area(90, 2, "", "rw-p", 2)};
    made.space.pages = {run(10, 4, sys::PageState::file),
                        run(14, 2),
                        run(16, 2),
                        run(30, 3, sys::PageState::file),
                        run(40, 2, sys::PageState::file),
                        run(50, 4),
                        run(54, 1),
                        run(60, 2, sys::PageState::file),
                        run(70, 3),
                        run(80, 1, sys::PageState::file),
                        run(90, 2)};
    const MemoryLedger ledger = made.ledger();
    const std::map<Category, std::uint64_t> pages{
        {Category::files_program, 5}, {Category::private_copies, 2}, {Category::bss, 2},    {Category::files_data, 3},
        {Category::shared, 2},        {Category::recorder, 7},       {Category::stacks, 3}, {Category::other, 2}};
    for (std::size_t i = 0; i < memory_categories; ++i) {
        const auto category = static_cast<Category>(i);
        INFO(name_of(category));
        const auto expected = pages.find(category);
        CHECK(ledger.of(category).pages == (expected == pages.end() ? 0 : expected->second));
        CHECK(ledger.bytes(category) == ledger.of(category).pages * page);
    }
    CHECK(ledger.sum() == ledger.rss_bytes);
    CHECK(ledger.program_bytes() == ledger.sum() - 7 * page);
}

TEST_CASE("ledger: a page with blocks is divided to the byte, and its sites pin it", "[unit]")
{
    Made made;
    made.space.areas = {area(100, 10, "[heap]", "rw-p", 5)};
    made.space.pages = {run(100, 5)};
    made.blocks = {{.address = 100 * page + 16, .requested = 100, .usable = 104, .header = 8, .site = 1},
                   {.address = 100 * page + 128, .requested = 24, .usable = 24, .header = 8, .site = 2},
                   // From the middle of one page to that of the next.
                   {.address = 101 * page + 2048, .requested = page, .usable = page, .header = 8, .site = 1}};
    made.covered = {{101 * page, 104 * page, 2}};
    const MemoryLedger ledger = made.ledger();
    CHECK(ledger.bytes(Category::live) == 100 + 24 + page);
    CHECK(ledger.bytes(Category::rounding) == 4);
    CHECK(ledger.bytes(Category::headers) == 24);
    CHECK(ledger.bytes(Category::holes) == 3 * page - (100 + 24 + page) - 4 - 24);
    CHECK(ledger.of(Category::kept_free) == CategoryFigure{page, 1});
    CHECK(ledger.of(Category::never_a_block) == CategoryFigure{page, 1});
    CHECK(ledger.sum() == 5 * page);
    CHECK(ledger.kept_free_in_brk_heap == page);
    CHECK(ledger.kept_free_at_top == page);
    made.blocks.push_back({.address = 104 * page, .requested = 8, .usable = 8, .header = 0, .site = 1});
    CHECK(made.ledger().kept_free_in_brk_heap == page);
    CHECK(made.ledger().kept_free_at_top == 0);
    CHECK(ledger.sites[1].pins_alone == 2 * page);
    CHECK(ledger.sites[1].pins_with_others == page);
    CHECK(ledger.sites[2].pins_with_others == page);
    CHECK(ledger.sites[2].left_behind == page + (2048 - 8) + 2048);
    CHECK(ledger.sites[1].live == 100 + page);
    CHECK(ledger.sites[2].blocks == 1);
}

TEST_CASE("ledger: who mapped a page decides where no block lay", "[unit]")
{
    Made made;
    made.space.areas = {area(200, 20, "", "rw-p", 20)};
    made.space.pages = {run(200, 20)};
    made.mappers = {{200 * page, 204 * page, false}, {204 * page, 208 * page, true}};
    made.stacks = {{208 * page, 210 * page, true}, {210 * page, 212 * page, false}};
    made.blocks = {{.address = 211 * page, .requested = page, .usable = page, .header = 0, .site = 0}};
    const MemoryLedger ledger = made.ledger();
    CHECK(ledger.of(Category::mapped_by_program).pages == 4);
    CHECK(ledger.of(Category::stacks).pages == 3);  // a block lies on the fourth: that stack is gone
    CHECK(ledger.of(Category::live).pages == 1);
    CHECK(ledger.of(Category::never_a_block).pages == 4 + 8);  // the area holds a block: the rest is the allocator's
    CHECK(ledger.sum() == 20 * page);
}

TEST_CASE("ledger: parts of huge pages that are zero are nobody's use, and the zero page is not resident", "[unit]")
{
    Made made;
    made.space.areas = {area(512, 512, "", "rw-p", 512), area(2048, 4, "", "rw-p", 0)};
    made.space.pages = {run(512, 512, sys::PageState::anonymous, true), run(2048, 3, sys::PageState::zero),
                        run(2051, 1, sys::PageState::swapped)};
    made.blocks = {{.address = 512 * page, .requested = 512 * page, .usable = 512 * page, .header = 0, .site = 0}};
    made.zeroes = {{514 * page, 1024 * page}};
    const MemoryLedger ledger = made.ledger();
    CHECK(ledger.of(Category::huge_zero).pages == 510);
    CHECK(ledger.bytes(Category::live) == 2 * page);
    CHECK(ledger.zero_page_bytes == 3 * page);
    CHECK(ledger.swapped_bytes == page);
    CHECK(ledger.sum() == ledger.rss_bytes);
}

TEST_CASE("ledger: memory that is left out of dumps is the recorder's, unless the program mapped it", "[unit]")
{
    Made made;
    made.space.areas = {area(10, 2, "", "rw-p", 2), area(20, 2, "", "rw-p", 2)};
    made.space.areas[0].is_left_out_of_dumps = true;
    made.space.areas[1].is_left_out_of_dumps = true;
    made.space.pages = {run(10, 2), run(20, 2)};
    made.mappers = {{20 * page, 22 * page, false}};
    const MemoryLedger ledger = made.ledger();
    CHECK(ledger.of(Category::recorder).pages == 2);
    CHECK(ledger.of(Category::mapped_by_program).pages == 2);
}

TEST_CASE("ledger: memory beside a file of data is not a program's data, and beside a library may be the recorder's",
          "[unit]")
{
    Made made;
    made.space.areas = {area(10, 1, "/usr/lib/locale/C.utf8/LC_CTYPE", "r--p", 1),
                        area(11, 2, "", "rw-p", 2),
                        area(20, 1, "/lib/x.so", "r-xp", 1),
                        area(21, 1, "", "rw-p", 1),
                        area(30, 1, "/lib/x.so", "r-xp", 1),
                        area(31, 1, "", "rw-p", 1)};
    made.space.areas[1].is_left_out_of_dumps = true;
    made.space.areas[5].is_left_out_of_dumps = true;
    made.space.pages = {run(10, 1, sys::PageState::file), run(11, 2), run(20, 1, sys::PageState::file), run(21, 1),
                        run(30, 1, sys::PageState::file), run(31, 1)};
    const MemoryLedger ledger = made.ledger();
    CHECK(ledger.of(Category::recorder).pages == 3);
    CHECK(ledger.of(Category::bss).pages == 1);
    CHECK(ledger.sum() == ledger.rss_bytes);
}

TEST_CASE("ledger: the picture has each area once, in cells that get larger where there are many pages", "[unit]")
{
    Made made;
    made.space.areas = {area(10, 4, "/bin/x", "r-xp", 4), area(14, 2, "/bin/x", "rw-p", 2), area(16, 2, "", "rw-p", 1),
                        area(1024, 4096, "[heap]", "rw-p", 1025), area(9000, 10, "", "rw-p", 0)};
    made.space.pages = {run(10, 4, sys::PageState::file), run(14, 2), run(16, 1), run(1024, 1024), run(5119, 1)};
    made.covered = {{1024 * page, 2048 * page, 0}};
    for (const std::size_t most : {std::size_t{2000}, std::size_t{50}}) {
        made.most_cells = most;
        const MemoryPicture picture = made.ledger().picture;
        REQUIRE(picture.areas.size() == 2);
        CHECK(picture.areas[0].name == "/bin/x");
        CHECK(picture.areas[0].end == 18 * page);
        CHECK(picture.areas[0].bytes()[static_cast<std::size_t>(Category::files_program)] == 4 * page);
        CHECK(picture.areas[0].bytes()[static_cast<std::size_t>(Category::bss)] == page);
        CHECK(picture.areas[1].bytes()[static_cast<std::size_t>(Category::kept_free)] == 1024 * page);
        CHECK(picture.areas[1].cells.back().begin == 5119 * page / picture.cell_bytes * picture.cell_bytes);
        CHECK(picture.areas[0].cells.size() + picture.areas[1].cells.size() <= most);
        CHECK(picture.cell_bytes == (most == 2000 ? page : 32 * page));
    }
    made.most_cells = 0;
    CHECK(made.ledger().picture.areas.empty());
}

TEST_CASE("ledger: whatever lies where, all of it is the resident memory", "[unit]")
{
    base::Rng random{7};
    for (int round = 0; round < 200; ++round) {
        Made made;
        std::uint64_t at = 100;
        for (int i = 0; i < 8; ++i) {
            const std::uint64_t pages = 1 + random.below(30);
            constexpr std::array<const char*, 5> names{"", "[heap]", "/bin/x", "", "[stack]"};
            made.space.areas.push_back(area(at, pages, names.at(random.below(names.size())), "rw-p", pages));
            made.space.pages.push_back(run(at, pages,
                                           random.below(4) == 0 ? sys::PageState::file : sys::PageState::anonymous,
                                           random.below(3) == 0));
            at += pages + random.below(3);
        }
        const std::uint64_t end = at * page;
        for (std::uint64_t address = 100 * page + 16; address < end;) {
            const std::uint64_t size = random.below(3) == 0 ? random.below(3 * page) : random.below(200);
            made.blocks.push_back({.address = address,
                                   .requested = size,
                                   .usable = size + random.below(16),
                                   .header = 8,
                                   .site = static_cast<std::uint32_t>(random.below(3))});
            address += size + 32 + (random.below(4) == 0 ? random.below(5 * page) : 0);
        }
        for (std::uint64_t first = 100; first < at; first += 1 + random.below(20)) {
            const std::uint64_t last = first + 1 + random.below(4);
            made.covered.push_back({first * page, last * page, static_cast<std::uint32_t>(random.below(3))});
            first = last;
        }
        const MemoryLedger ledger = made.ledger();
        CHECK(ledger.sum() == ledger.rss_bytes);
        std::uint64_t pages = 0;
        for (const CategoryFigure& figure : ledger.categories) {
            pages += figure.pages;
        }
        CHECK(pages * page == ledger.sum());
        std::array<std::uint64_t, memory_categories> drawn{};
        for (const PictureArea& area : ledger.picture.areas) {
            const auto bytes = area.bytes();
            for (std::size_t i = 0; i < drawn.size(); ++i) {
                drawn.at(i) += bytes.at(i);
            }
        }
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            CHECK(drawn.at(i) == ledger.categories.at(i).bytes);
        }
    }
}

}  // namespace memsweep::tests::ledgers
