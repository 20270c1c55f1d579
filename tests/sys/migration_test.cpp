// Migration between nodes as far as one node shows it: what is there, what is absent, what cannot be asked for.
#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::sys {

TEST_CASE("migration: resident pages are on the node, those never touched are absent", "[machine]")
{
    constexpr std::uint64_t pages = 1500;  // more than a batch
    auto mapping = Mapping::anonymous(pages * page_size());
    REQUIRE(mapping);
    static_cast<void>(touch_pages(mapping->data(), 700 * page_size()));
    const int node = nodes_of_pages(mapping->data(), page_size()).front();
    if (node < 0) {
        std::printf("skipped: migration: move_pages is not allowed here\n");
        return;
    }
    const Migration moved = migrate_pages(mapping->data(), mapping->size(), static_cast<std::uint32_t>(node));
    CHECK_FALSE(moved.refused);
    CHECK(moved.pages_there >= 700);  // a huge page may have brought more in
    CHECK(moved.pages_left == 0);
    CHECK(moved.pages_there + moved.pages_absent == pages);
}

TEST_CASE("migration: a node that is not there is refused, and no page moves", "[machine]")
{
    auto mapping = Mapping::anonymous(page_size());
    REQUIRE(mapping);
    static_cast<void>(touch_pages(mapping->data(), mapping->size()));
    const Migration moved = migrate_pages(mapping->data(), mapping->size(), 63);
    CHECK(moved.refused);
    CHECK(moved.pages_there == 0);
}

}  // namespace memsweep::sys
