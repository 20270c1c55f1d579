#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "core/probe/chase.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using probe::Chase;
using probe::ChaseSpec;

namespace {

struct alignas(256) Block {
    std::byte bytes[256];
};

// Line numbers in the order of a whole round.
std::vector<std::size_t> round_of(const Chase& chase, const std::vector<Block>& memory)
{
    std::vector<std::size_t> visited;
    std::vector<void**> at = chase.starts(1);
    for (std::size_t i = 0; i < chase.lines(); ++i) {
        const auto* const place = reinterpret_cast<const std::byte*>(at.front());
        visited.push_back(static_cast<std::size_t>(place - memory.front().bytes) / 64);
        probe::follow(at, 1);
    }
    CHECK(at == chase.starts(1));  // closed after exactly that many loads
    return visited;
}

}  // namespace

TEST_CASE("a chase visits every line exactly once", "[unit]")
{
    for (const std::size_t blocks : {1U, 2U, 7U, 64U, 1000U, 5000U}) {
        for (const std::uint64_t group_bytes : {256U, 4096U, 64U * 4096U, 1U << 30}) {
            std::vector<Block> memory(blocks);
            const Chase chase{memory.front().bytes,
                              {.bytes = blocks * 256, .group_bytes = group_bytes, .seed = blocks}};
            CHECK(chase.lines() == 4 * blocks);
            const std::vector<std::size_t> visited = round_of(chase, memory);
            CHECK(std::set(visited.begin(), visited.end()).size() == 4 * blocks);
            CHECK(std::ranges::max(visited) == 4 * blocks - 1);
        }
    }
}

TEST_CASE("with a stride of 256 one line of each block is visited", "[unit]")
{
    std::vector<Block> memory(3000);
    const Chase chase{memory.front().bytes, {.bytes = memory.size() * 256, .stride = 256}};
    const std::vector<std::size_t> visited = round_of(chase, memory);
    std::set<std::size_t> blocks;
    std::set<std::size_t> lines_in_block;
    for (const std::size_t line : visited) {
        blocks.insert(line / 4);
        lines_in_block.insert(line % 4);
    }
    CHECK(chase.lines() == memory.size());
    CHECK(blocks.size() == memory.size());
    CHECK(lines_in_block.size() == 4);
}

TEST_CASE("a group of pages is left only when all of it has been visited, and every block once a quarter", "[unit]")
{
    constexpr std::size_t blocks = 4096;
    constexpr std::size_t group_blocks = 1024;
    std::vector<Block> memory(blocks);
    const Chase chase{memory.front().bytes, {.bytes = blocks * 256, .group_bytes = group_blocks * 256}};
    const std::vector<std::size_t> visited = round_of(chase, memory);
    std::size_t changes_of_group = 0;
    std::size_t closest = SIZE_MAX;
    std::vector<std::size_t> last_visit(blocks, SIZE_MAX);
    for (std::size_t i = 0; i < visited.size(); ++i) {
        const std::size_t block = visited[i] / 4;
        changes_of_group += i != 0 && block / group_blocks != visited[i - 1] / 4 / group_blocks ? 1U : 0U;
        if (last_visit[block] != SIZE_MAX) {
            closest = std::min(closest, i / blocks - last_visit[block] / blocks);
        }
        last_visit[block] = i;
    }
    CHECK(changes_of_group < 4 * (blocks / group_blocks));
    CHECK(closest == 1);  // every block once in each quarter of the round
}

TEST_CASE("chains start equally far apart and never meet", "[unit]")
{
    std::vector<Block> memory(100);
    const Chase chase{memory.front().bytes, {.bytes = memory.size() * 256}};
    for (const std::size_t chains : probe::chain_counts()) {
        std::vector<void**> at = chase.starts(chains);
        REQUIRE(at.size() == chains);
        std::set<void**> seen;
        for (std::size_t load = 0; load < chase.lines() / chains; ++load) {
            seen.insert(at.begin(), at.end());
            probe::follow(at, 1);
        }
        CHECK(seen.size() == chase.lines() / chains * chains);
    }
}

TEST_CASE("the same seed is the same chase", "[unit]")
{
    std::vector<Block> memory(500);
    const auto order = [&](std::uint64_t seed) {
        const Chase chase{memory.front().bytes, {.bytes = memory.size() * 256, .seed = seed}};
        return round_of(chase, memory);
    };
    CHECK(order(1) == order(1));
    CHECK(order(1) != order(2));
}

TEST_CASE("latency is time over loads", "[unit]")
{
    // Advances by 4096 ns each time it is read, as often as 4096 loads are made between two reads.
    class SteppedClock final : public sys::Clock {
      public:
        [[nodiscard]] std::chrono::nanoseconds now() const noexcept override
        {
            return std::chrono::nanoseconds{time_ += 4096};
        }
        [[nodiscard]] std::chrono::nanoseconds process_cpu() const noexcept override { return {}; }
        void sleep_for(std::chrono::nanoseconds) const noexcept override {}

      private:
        mutable std::int64_t time_{};
    };
    std::vector<Block> memory(16);
    const Chase chase{memory.front().bytes, {.bytes = memory.size() * 256}};
    std::vector<void**> at = chase.starts(1);
    CHECK(probe::latency_of(at, 1e-3, SteppedClock{}) == Approx(1e-9));
}
