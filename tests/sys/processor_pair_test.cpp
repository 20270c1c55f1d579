#include "core/sys/processor_pair.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/sys/described_machine.hpp"

using namespace memsweep;
using tests::machine;
using tests::synthetic;

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

sys::Topology allowing(sys::Topology topology, std::initializer_list<std::uint32_t> processors)
{
    for (sys::Processor& one : topology.processors) {
        one.is_allowed = std::ranges::find(processors, one.id) != processors.end();
    }
    return topology;
}

bool share_a_core(const sys::Topology& topology, const Pair& pair)
{
    const auto core = [&](std::uint32_t id) {
        return std::ranges::find(topology.processors, id, &sys::Processor::id)->core;
    };
    return core(pair.first) && core(pair.first) == core(pair.second);
}

}  // namespace

TEST_CASE("a pair of processors: two cores rather than one, siblings where there is nothing else", "[unit]")
{
    const auto topology = synthetic("pack:1 l2:4(size=1MiB) core:1 pu:2");
    CHECK(sys::two_of_one_kind(topology) == Pair{0, 2});
    CHECK(sys::two_of_one_kind(allowing(topology, {2, 3})) == Pair{2, 3});
    CHECK(sys::two_of_one_kind(allowing(topology, {2, 3, 7})) == Pair{2, 7});
    CHECK_FALSE(sys::two_of_one_kind(allowing(topology, {3})));
    CHECK_FALSE(sys::two_of_one_kind(allowing(topology, {})));
    CHECK(sys::two_of_one_kind(synthetic("pu:2")) == Pair{0, 1});
    CHECK_FALSE(sys::two_of_one_kind(synthetic("pu:1")));
}

TEST_CASE("a pair of processors: of one node rather than of two", "[unit]")
{
    const auto topology = synthetic("pack:2 [numa(memory=4GiB)] core:4 pu:1");
    CHECK(sys::two_of_one_kind(allowing(topology, {0, 4, 5})) == Pair{4, 5});
    CHECK(sys::two_of_one_kind(allowing(topology, {0, 4})) == Pair{0, 4});
}

TEST_CASE("a pair of processors: never of two kinds", "[unit]")
{
    const auto topology = machine("intel_hybrid");  // 0 to 11: six fast cores of two; 12 to 19: eight slow ones
    CHECK(sys::two_of_one_kind(topology) == Pair{0, 2});
    CHECK_FALSE(sys::two_of_one_kind(allowing(topology, {0, 12})));
    CHECK(sys::two_of_one_kind(allowing(topology, {0, 12, 13})) == Pair{12, 13});
    CHECK(sys::two_of_one_kind(allowing(topology, {0, 1, 12, 13})) == Pair{12, 13});
    CHECK(sys::two_of_one_kind(allowing(topology, {0, 1, 12})) == Pair{0, 1});
}

TEST_CASE("a pair of processors: two that cannot be told apart, on every machine", "[unit]")
{
    for (const char* const name : tests::machine_names) {
        INFO(name);
        const auto topology = machine(name);
        const auto pair = sys::two_of_one_kind(topology);
        REQUIRE(pair);
        CHECK(pair->first < pair->second);
        CHECK_FALSE(share_a_core(topology, *pair));
        for (const std::uint32_t id : {pair->first, pair->second}) {
            CHECK(std::ranges::find(topology.processors, id, &sys::Processor::id)->is_allowed);
        }
    }
}
