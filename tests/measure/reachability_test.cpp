// Pointers are followed through a memory that is made up.
#include "core/measure/reachability.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/support/catch.hpp"

namespace memsweep::tests::pointers {
using namespace measure;
namespace {

constexpr std::uint64_t base_address = 0x10000;

class Memory {
  public:
    Memory() : words_(4096) {}
    void put(std::uint64_t address, std::uint64_t value) { words_.at((address - base_address) / 8) = value; }
    [[nodiscard]] ReadMemory reader() const
    {
        return [this](std::uint64_t address, void* into, std::size_t bytes) {
            const std::uint64_t end = base_address + words_.size() * 8;
            if (address < base_address || address >= end) {
                return std::size_t{0};
            }
            const auto got = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, end - address));
            std::memcpy(into, reinterpret_cast<const char*>(words_.data()) + (address - base_address), got);
            return got;
        };
    }

  private:
    std::vector<std::uint64_t> words_;
};

}  // namespace

TEST_CASE("reachability: blocks are found by chains, from within, and not by what lies behind their ends", "[unit]")
{
    Memory memory;
    std::vector<HeldBlock> blocks;
    for (std::uint64_t i = 0; i < 8; ++i) {
        blocks.push_back({.address = base_address + 0x1000 + i * 64, .requested = 48, .usable = 56});
    }
    const AddressRange roots{base_address, base_address + 64};
    memory.put(base_address + 8, blocks[0].address + 40);  // into its last word
    memory.put(blocks[0].address, blocks[1].address);
    memory.put(blocks[1].address + 40, blocks[2].address + 1);
    memory.put(base_address + 16, blocks[3].address + 48);  // one behind its end
    memory.put(base_address + 64, blocks[3].address);       // outside of the roots
    memory.put(blocks[4].address, blocks[5].address);       // lost together
    memory.put(blocks[6].address, blocks[7].address);       // a circle
    memory.put(blocks[7].address, blocks[6].address);
    const Reachability found = reachability(blocks, std::span{&roots, 1}, memory.reader());
    CHECK(found.is_reachable == std::vector<bool>{true, true, true, false, false, false, false, false});
    CHECK(found.family[3] != found.family[4]);
    CHECK(found.family[4] == found.family[5]);
    CHECK(found.family_bytes == std::vector<std::uint64_t>{48, 96});
    CHECK(found.family[6] == Reachability::no_family);
    CHECK(found.family[0] == Reachability::no_family);
}

TEST_CASE("reachability: without blocks, or memory that can be read, nothing is found", "[unit]")
{
    const AddressRange roots{0x500000, 0x600000};
    const Memory memory;
    CHECK(reachability({}, std::span{&roots, 1}, memory.reader()).is_reachable.empty());
    const HeldBlock block{.address = 0x500000, .requested = 0, .usable = 16};
    CHECK(reachability(std::span{&block, 1}, std::span{&roots, 1}, memory.reader()).is_reachable ==
          std::vector<bool>{false});
}

TEST_CASE("reachability: a page that cannot be read hides no other, and is told", "[unit]")
{
    constexpr std::uint64_t page = 4096;
    Memory memory;
    const HeldBlock block{.address = base_address + 6 * page, .requested = 48, .usable = 56};
    memory.put(base_address + 2 * page + 8, block.address);
    const ReadMemory with_a_gap = [read = memory.reader()](std::uint64_t address, void* into, std::size_t bytes) {
        const std::uint64_t gap = base_address + page;
        if (address >= gap && address < gap + page) {
            return std::size_t{0};
        }
        return read(address, into, address < gap ? std::min<std::size_t>(bytes, gap - address) : bytes);
    };
    const AddressRange roots{base_address, base_address + 4 * page};
    const Reachability found = reachability(std::span{&block, 1}, std::span{&roots, 1}, with_a_gap);
    CHECK(found.is_reachable == std::vector<bool>{true});
    CHECK(found.root_bytes == 4 * page);
    CHECK(found.unread_root_bytes == page);
}

TEST_CASE("reachability: families are many without those that outweigh the rest", "[unit]")
{
    std::vector<std::uint64_t> rows(1499, 1000);
    CHECK(largest_of_many(rows, 1500) == 0);
    rows.push_back(1000);
    CHECK(largest_of_many(rows, 1500) == 1000);
    rows.push_back(100'000'000);  // a matrix beside them
    CHECK(largest_of_many(rows, 1500) == 1000);
    rows.assign(900, 20'000);
    rows.push_back(12'000'000);  // it makes few rows no more than they are
    CHECK(largest_of_many(rows, 1500) == 0);
    CHECK(largest_of_many({}, 1500) == 0);
    CHECK(largest_of_many({}, 0) == 0);
}

}  // namespace memsweep::tests::pointers
