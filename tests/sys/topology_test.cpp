#include "core/sys/topology.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/sys/machine_facts.hpp"
#include "core/sys/processors.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/described_machine.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using tests::machine;
using tests::synthetic;

namespace {

std::vector<std::uint32_t> ids(const std::vector<sys::NumaNode>& nodes)
{
    std::vector<std::uint32_t> all;
    std::ranges::transform(nodes, std::back_inserter(all), &sys::NumaNode::id);
    return all;
}

}  // namespace

TEST_CASE("topology: a described machine has the caches, cores and nodes of its description", "[unit]")
{
    const auto topology =
        synthetic("pack:2 [numa(memory=4GiB)] l3:2(size=32MiB) l2:4(size=1MiB) l1d:1(size=32kiB) core:1 pu:2");
    CHECK_FALSE(topology.is_this_machine);
    CHECK(topology.packages == 2);
    CHECK(topology.cores == 16);
    CHECK(topology.processors.size() == 32);
    const auto kinds = sys::cache_kinds(topology);
    REQUIRE(kinds.size() == 3);
    CHECK(kinds[0].type == sys::CacheType::data);
    CHECK(kinds[0].bytes == 32U << 10);
    CHECK(kinds[0].instances == 16);
    CHECK(kinds[2].level == 3);
    CHECK(kinds[2].instances == 4);
    CHECK(kinds[2].shared_by == 8);
    CHECK(sys::last_level_cache_bytes(topology) == 32U << 20);
    CHECK(ids(topology.nodes) == std::vector<std::uint32_t>{0, 1});
    CHECK(topology.nodes[1].memory_bytes == 4ULL << 30);
    CHECK(topology.nodes[1].cpus.size() == 16);
    CHECK(topology.nodes[1].cpus.front() == 16);
}

TEST_CASE("topology: memory that the kernel counts otherwise than the nodes is marked", "[unit]")
{
    int with_memory = 0;
    for (const char* const name : tests::machine_names) {
        INFO(name);
        const sys::Topology told = machine(name);
        const std::uint64_t bytes = told.memory_bytes;
        if (bytes == 0) {  // of which the description says nothing
            sys::Topology checked = told;
            sys::check_memory(checked, 1ULL << 40);
            CHECK(checked.contradicted_bytes == 0);
            continue;
        }
        ++with_memory;
        for (const std::uint64_t agreeing : {bytes, bytes + bytes / 200, bytes - bytes / 200, std::uint64_t{0}}) {
            sys::Topology checked = told;
            sys::check_memory(checked, agreeing);
            CHECK(checked.contradicted_bytes == 0);
            CHECK(checked.memory_bytes == bytes);
            CHECK(sys::text_of(checked) == sys::text_of(told));
        }
        sys::Topology plugged = told;
        sys::check_memory(plugged, bytes * 3);
        CHECK(plugged.contradicted_bytes == bytes);
        CHECK(plugged.memory_bytes == bytes * 3);
        CHECK(plugged.machine.label.find("total; hwloc: ") != std::string::npos);
        CHECK(plugged.xml == told.xml);
        for (std::size_t i = 0; i < told.nodes.size(); ++i) {
            const std::uint64_t of_node = told.nodes[i].memory_bytes;
            CHECK(plugged.nodes[i].memory_bytes == (told.nodes.size() == 1 ? bytes * 3 : of_node));
        }
        sys::Topology limited = told;
        sys::check_memory(limited, bytes / 3);
        CHECK(limited.contradicted_bytes == bytes);
        CHECK(limited.memory_bytes == bytes);
        CHECK(limited.nodes.front().memory_bytes == told.nodes.front().memory_bytes);
        CHECK(limited.machine.label.find("total; MemTotal: ") != std::string::npos);
    }
    CHECK(with_memory >= 6);
}

TEST_CASE("topology: of one node the kernel's total is drawn as the node's too", "[unit]")
{
    auto topology = synthetic("[numa(memory=8GiB)] pu:2");
    sys::check_memory(topology, 24ULL << 30);
    CHECK(topology.nodes.front().memory_bytes == 24ULL << 30);
    const std::string drawn = sys::text_of(topology);
    CHECK(drawn.find("Machine (24GB total; hwloc: 8192MB)") != std::string::npos);
    CHECK(drawn.find("(P#0 24GB; hwloc: 8192MB)") != std::string::npos);
}

TEST_CASE("topology: what is not described is left out", "[unit]")
{
    const auto topology = synthetic("pu:2");
    CHECK(topology.caches.empty());
    CHECK(topology.devices.empty());
    CHECK(topology.cores == 0);
    CHECK(sys::last_level_cache_bytes(topology) == 0);
    REQUIRE(topology.nodes.size() == 1);
    CHECK(topology.nodes[0].cpus == std::vector<std::uint32_t>{0, 1});
    CHECK(topology.nodes[0].distances == std::vector<std::uint32_t>{10});
    CHECK_FALSE(sys::topology_from_synthetic("no such thing"));
    CHECK_FALSE(sys::topology_from_xml("/no/such/file.xml"));
}

TEST_CASE("topology: every last-level cache of a processor that has several is one of its own", "[unit]")
{
    const auto topology = machine("amd_sixteen_l3");
    const auto kinds = sys::cache_kinds(topology);
    CHECK(kinds.back().instances == 16);
    CHECK(kinds.back().shared_by == 6);
    CHECK(sys::last_level_cache_bytes(topology) == 8U << 20);
}

TEST_CASE("topology: caches of one level and two sizes are two kinds", "[unit]")
{
    const auto kinds = sys::cache_kinds(machine("intel_hybrid"));
    const auto seconds = std::ranges::count_if(
        kinds, [](const sys::CacheKind& kind) { return kind.level == 2 && kind.type == sys::CacheType::unified; });
    CHECK(seconds == 2);
}

TEST_CASE("topology: a node of memory alone has no processors, though hwloc names those nearest to it", "[unit]")
{
    const auto topology = machine("node_without_processors");
    CHECK(ids(topology.nodes) == std::vector<std::uint32_t>{5, 6, 7, 8, 9, 10});
    using Cpus = std::vector<std::uint32_t>;
    CHECK(topology.nodes[0].cpus == Cpus{0, 1});
    CHECK(topology.nodes[1].cpus == Cpus{4, 5});
    CHECK(topology.nodes[2].cpus.empty());
    CHECK(topology.nodes[2].memory_bytes != 0);
    CHECK(topology.nodes[5].cpus.empty());
    REQUIRE(topology.nodes[0].distances.size() == 6);
    CHECK(topology.nodes[0].distances[0] == 10);
}

TEST_CASE("topology: every processor that may be used lies in one node, on every machine", "[unit]")
{
    for (const char* const name : tests::machine_names) {
        INFO(name);
        const auto topology = machine(name);
        std::vector<std::uint32_t> in_nodes;
        for (const sys::NumaNode& node : topology.nodes) {
            in_nodes.insert(in_nodes.end(), node.cpus.begin(), node.cpus.end());
            CHECK((node.distances.empty() || node.distances.size() == topology.nodes.size()));
        }
        std::ranges::sort(in_nodes);
        std::vector<std::uint32_t> usable;
        for (const sys::Processor& processor : topology.processors) {
            if (processor.is_allowed) {
                usable.push_back(processor.id);
            }
        }
        CHECK(in_nodes == usable);
        CHECK(topology.xml.find("<topology") != std::string::npos);
    }
}

TEST_CASE("topology: processors that a control group forbids are online, and not to be used", "[unit]")
{
    const auto topology = machine("intel_disallowed_processors");
    const auto allowed = std::ranges::count_if(topology.processors, &sys::Processor::is_allowed);
    CHECK(allowed > 0);
    CHECK(static_cast<std::size_t>(allowed) < topology.processors.size());
}

TEST_CASE("topology: a GPU is nearest to the node of its package", "[unit]")
{
    const auto topology = machine("power8_four_gpus");
    REQUIRE(topology.devices.size() == 4);
    CHECK(topology.devices[0].address == "0002:01:00.0");
    CHECK(topology.devices[0].kind == "3D");
    CHECK(topology.devices[0].nodes == std::vector<std::uint32_t>{0});
    CHECK(topology.devices[3].nodes == std::vector<std::uint32_t>{1});
    CHECK(std::ranges::find(topology.devices[3].names, "cuda3") != topology.devices[3].names.end());
}

TEST_CASE("topology: a machine is drawn with what lies alone in another on its line", "[unit]")
{
    const auto topology = synthetic("pack:1 [numa(memory=1GiB)] l2:2(size=1MiB) core:1 pu:1");
    CHECK(sys::text_of(topology) == "Machine (1024MB total) + Package L#0\n"
                                    "  NUMANode L#0 (P#0 1024MB)\n"
                                    "  L2 L#0 (1024KB) + Core L#0 + PU L#0 (P#0)\n"
                                    "  L2 L#1 (1024KB) + Core L#1 + PU L#1 (P#1)\n");
}

TEST_CASE("topology: the drawing has a box for each object, and none of them ends outside", "[unit]")
{
    auto topology = synthetic("pack:2 [numa] core:12 pu:2");
    topology.machine.label = "<&\">";
    const std::string svg = sys::svg_of(topology);
    std::size_t boxes = 0;
    for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) {
        ++boxes;
    }
    CHECK(boxes == 1 + 2 + 2 + 24 + 48);
    CHECK(svg.find("&lt;&amp;&quot;&gt;") != std::string::npos);
    CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("topology: the kernel's lists are read from below the root", "[unit]")
{
    tests::TempTree tree;
    tree.add("sys/devices/system/node/online", "0,2\n");
    tree.add("sys/devices/system/node/node0/cpulist", "0-1,8\n");
    tree.add("sys/devices/system/node/node2/cpulist", "\n");
    CHECK(sys::online_nodes(tree.root()) == 2U);
    CHECK_FALSE(sys::online_processors(tree.root()));
    CHECK(sys::processors_of_node(0, tree.root()) == std::vector<std::uint32_t>{0, 1, 8});
    CHECK(sys::processors_of_node(2, tree.root()) == std::vector<std::uint32_t>{});
    CHECK_FALSE(sys::processors_of_node(1, tree.root()));
}

TEST_CASE("topology: of this machine, what may be used is what the scheduler allows", "[machine]")
{
    const auto topology = sys::load_topology();
    REQUIRE(topology);
    CHECK(topology->is_this_machine);
    std::vector<std::uint32_t> usable;
    for (const sys::Processor& processor : topology->processors) {
        if (processor.is_allowed) {
            usable.push_back(processor.id);
        }
    }
    CHECK(usable == sys::allowed_cpus());
    const auto left = sys::address_space_left();
    CHECK((!left || *left > 0));
}
