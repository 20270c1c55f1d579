// Policies, proofs and migration, as far as one node shows them.
#include "core/sys/numa.hpp"

#include <algorithm>
#include <cstdio>

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::sys {

TEST_CASE("migration: resident pages are on the node, those never touched are absent", "[machine]")
{
    constexpr std::uint64_t pages = 1500;  // more than a batch
    auto mapping = Mapping::anonymous(pages * page_size());
    REQUIRE(mapping);
    static_cast<void>(touch_pages(mapping->data(), 700 * page_size()));
    const auto before = pages_by_node(mapping->data(), page_size());
    if (!before || before->pages.empty()) {
        std::printf("skipped: migration: move_pages is not allowed here\n");
        return;
    }
    const Migration moved = migrate_pages(mapping->data(), mapping->size(), before->pages.begin()->first);
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

TEST_CASE("the kernel tells where pages lie, and which are not there yet", "[machine]")
{
    const std::uint32_t node = nodes_with_memory().front();
    const std::uint64_t bytes = 5000 * page_size();  // more than is asked for at a time
    const auto mapping = Mapping::anonymous(bytes);
    REQUIRE(mapping);
    static_cast<void>(advise(mapping->data(), bytes, Advice::no_huge_pages));
    const auto bound = bind_to_node(mapping->data(), bytes, node);
    if (!bound && bound.error().code == base::ErrorCode::not_supported) {
        WARN("skipped: binding to a node: " << bound.error().message);
        return;
    }
    REQUIRE(bound);
    touch_pages(mapping->data(), 4500 * page_size());
    const auto found = pages_by_node(mapping->data(), bytes);
    REQUIRE(found);
    CHECK(found->pages == std::map<std::uint32_t, std::uint64_t>{{node, 4500}});
    CHECK(found->not_resident == 500);
    CHECK_FALSE(bind_to_node(mapping->data(), bytes, 1000));
    CHECK_FALSE(bind_to_node(mapping->data(), bytes, 5000));
}

TEST_CASE("there is memory to bind to, in the order of its nodes", "[machine]")
{
    const auto nodes = nodes_with_memory();
    REQUIRE_FALSE(nodes.empty());
    CHECK(std::ranges::is_sorted(nodes));
}

}  // namespace memsweep::sys
