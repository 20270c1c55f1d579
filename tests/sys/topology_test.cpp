#include "core/sys/topology.hpp"

#include "core/sys/address_space.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

TEST_CASE("processors, caches and reserved pages are read from below the root, each cache once", "[unit]")
{
    tests::TempTree tree;
    const std::string top = "sys/devices/system/cpu/";
    tree.add(top + "online", "0-2\n");
    for (const char* cpu : {"cpu0/", "cpu1/", "cpu2/"}) {
        const std::string folder = top + cpu;
        const bool first_core = folder.find("cpu2") == std::string::npos;
        tree.add(folder + "topology/physical_package_id", "0\n");
        tree.add(folder + "topology/core_id", first_core ? "0\n" : "1\n");
        tree.add(folder + "cache/index0/level", "1\n");
        tree.add(folder + "cache/index0/type", "Data\n");
        tree.add(folder + "cache/index0/size", "48K\n");
        tree.add(folder + "cache/index0/coherency_line_size", "64\n");
        tree.add(folder + "cache/index0/shared_cpu_list", first_core ? "0-1\n" : "2\n");
        tree.add(folder + "cache/index1/level", "3\n");
        tree.add(folder + "cache/index1/type", "Unified\n");
        tree.add(folder + "cache/index1/size", "480M\n");
        tree.add(folder + "cache/index1/coherency_line_size", "64\n");
        tree.add(folder + "cache/index1/shared_cpu_list", "0-2\n");
    }
    tree.add("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
    tree.add("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "5\n");
    tree.add("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n");
    const auto topology = sys::cpu_topology(tree.root());
    CHECK(topology.processors == 3);
    CHECK(topology.cores == 2);
    CHECK(topology.packages == 1);
    REQUIRE(topology.caches.size() == 2);
    CHECK(topology.caches[0].bytes == 48U << 10);
    CHECK(topology.caches[0].instances == 2);
    CHECK(topology.caches[1].instances == 1);
    CHECK(topology.caches[1].shared_by == 3);
    CHECK(sys::first_level_cache_bytes(topology) == 48U << 10);
    CHECK(sys::last_level_cache_bytes(topology) == 480U << 20);
    REQUIRE(topology.huge_pages.size() == 2);
    CHECK(topology.huge_pages[0].page_bytes == 2U << 20);
    CHECK(topology.huge_pages[0].reserved == 5);
    CHECK(topology.huge_pages[0].free == 3);
    CHECK(topology.huge_pages[1].page_bytes == 1U << 30);
}

TEST_CASE("what is not shown is left out", "[unit]")
{
    const tests::TempTree tree;
    const auto topology = sys::cpu_topology(tree.root());
    CHECK(topology.processors == 0);
    CHECK(topology.caches.empty());
    CHECK(topology.huge_pages.empty());
    CHECK(sys::last_level_cache_bytes(topology) == 0);
}

TEST_CASE("this machine has processors, and whatever address space its limits leave", "[machine]")
{
    CHECK(sys::cpu_topology().processors > 0);
    const auto left = sys::address_space_left();
    CHECK((!left || *left > 0));
}
