#include "core/sys/numa_nodes.hpp"

#include <algorithm>
#include <numeric>

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

TEST_CASE("lists of processors and nodes", "[unit]")
{
    using List = std::vector<std::uint32_t>;
    CHECK(sys::parse_list("0-3,8") == List{0, 1, 2, 3, 8});
    CHECK(sys::parse_list("7") == List{7});
    CHECK(sys::parse_list("").value() == List{});
    for (const char* wrong : {"3-1", "a", "1-", "-1", "0-99999999", ",2"}) {
        INFO(wrong);
        CHECK_FALSE(sys::parse_list(wrong));
    }
}

TEST_CASE("nodes are read from below the root: memory without processors, processors without memory", "[unit]")
{
    tests::TempTree tree;
    const std::uint32_t cpu = sys::allowed_cpus().front();
    tree.add("sys/devices/system/node/online", "0,2\n");
    tree.add("sys/devices/system/node/node0/cpulist", std::to_string(cpu) + ",999999\n");
    tree.add("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       0 kB\n");
    tree.add("sys/devices/system/node/node0/distance", "10 21\n");
    tree.add("sys/devices/system/node/node2/cpulist", "\n");
    tree.add("sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:       2048 kB\nNode 2 MemFree:  7 kB\n");
    tree.add("sys/devices/system/node/node2/distance", "21 10\n");
    const auto nodes = sys::numa_nodes(tree.root());
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[0].id == 0);
    CHECK(nodes[0].cpus == std::vector{cpu});  // not what this process may not use
    CHECK(nodes[0].memory_bytes == 0);
    CHECK(nodes[0].distances == std::vector<std::uint32_t>{10, 21});
    CHECK(nodes[1].id == 2);
    CHECK(nodes[1].cpus.empty());
    CHECK(nodes[1].memory_bytes == 2048U << 10);
}

TEST_CASE("without NUMA there is one node of everything", "[unit]")
{
    const tests::TempTree tree;
    const auto nodes = sys::numa_nodes(tree.root());
    REQUIRE(nodes.size() == 1);
    CHECK(nodes[0].cpus == sys::allowed_cpus());
    CHECK(nodes[0].memory_bytes > 0);
}

TEST_CASE("the kernel tells where pages lie, and which are not there yet", "[machine]")
{
    const auto nodes = sys::numa_nodes();
    const auto with_memory = std::ranges::find_if(nodes, [](const auto& node) { return node.memory_bytes != 0; });
    REQUIRE(with_memory != nodes.end());
    const std::uint64_t bytes = 5000 * sys::page_size();  // more than is asked for at a time
    const auto mapping = sys::Mapping::anonymous(bytes);
    REQUIRE(mapping);
    static_cast<void>(sys::advise(mapping->data(), bytes, sys::Advice::no_huge_pages));
    const auto bound = sys::bind_to_node(mapping->data(), bytes, with_memory->id);
    if (!bound && bound.error().code == base::ErrorCode::not_supported) {
        WARN("skipped: binding to a node: " << bound.error().message);
        return;
    }
    REQUIRE(bound);
    sys::touch_pages(mapping->data(), 4500 * sys::page_size());
    const auto found = sys::pages_by_node(mapping->data(), bytes);
    REQUIRE(found);
    CHECK(found->pages == std::map<std::uint32_t, std::uint64_t>{{with_memory->id, 4500}});
    CHECK(found->not_resident == 500);
    CHECK_FALSE(sys::bind_to_node(mapping->data(), bytes, 1000));
    CHECK_FALSE(sys::bind_to_node(mapping->data(), bytes, 5000));
}
