#include "core/measure/reachability.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace memsweep::measure {
namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

class PointerScan {
  public:
    PointerScan(std::span<const HeldBlock> blocks, const ReadMemory& read) : blocks_{blocks}, read_{read}
    {
        if (!blocks.empty()) {
            low_ = blocks.front().address;
            high_ = end_of(blocks.back());
        }
    }

    // Calls visit(place) with each block that a word in there points to. Passes over pages that cannot be read, and
    // returns their bytes.
    template <typename Visit>
    std::uint64_t look_at(std::uint64_t begin, std::uint64_t end, Visit visit)
    {
        constexpr std::uint64_t page_bytes = 4096;  // the smallest of any kernel
        std::uint64_t unread = 0;
        begin = (begin + word_bytes - 1) / word_bytes * word_bytes;
        while (begin < end) {
            const std::uint64_t wanted = std::min<std::uint64_t>(end - begin, words_.size() * word_bytes);
            const std::size_t got = read_(begin, words_.data(), static_cast<std::size_t>(wanted));
            for (std::size_t i = 0; i < got / word_bytes; ++i) {
                if (const auto place = block_at(words_[i]); place != blocks_.size()) {
                    visit(place);
                }
            }
            begin += got;
            if (got < wanted) {
                const std::uint64_t next = std::min(begin / page_bytes * page_bytes + page_bytes, end);
                unread += next - begin;
                begin = next;
            }
        }
        return unread;
    }

    template <typename Visit>
    void look_in(std::size_t place, Visit visit)
    {
        static_cast<void>(look_at(blocks_[place].address, blocks_[place].address + blocks_[place].requested, visit));
    }

  private:
    static std::uint64_t end_of(const HeldBlock& block)
    {
        return block.address + std::max<std::uint64_t>(block.requested, 1);
    }

    // blocks_.size(): it points to none.
    [[nodiscard]] std::size_t block_at(std::uint64_t word) const
    {
        if (word < low_ || word >= high_) {
            return blocks_.size();
        }
        const auto behind =
            std::ranges::partition_point(blocks_, [&](const HeldBlock& one) { return one.address <= word; });
        const auto place = static_cast<std::size_t>(behind - blocks_.begin()) - 1;
        return word < end_of(blocks_[place]) ? place : blocks_.size();
    }

    std::span<const HeldBlock> blocks_;
    const ReadMemory& read_;
    std::array<std::uint64_t, 8192> words_{};
    std::uint64_t low_{1};
    std::uint64_t high_{};
};

// What is reached from the blocks that wait; `reach(place)` is true where it was not reached before.
template <typename Reach>
void spread(PointerScan& scan, std::vector<std::size_t>& waiting, Reach reach)
{
    while (!waiting.empty()) {
        const std::size_t place = waiting.back();
        waiting.pop_back();
        scan.look_in(place, [&](std::size_t found) {
            if (reach(found)) {
                waiting.push_back(found);
            }
        });
    }
}

}  // namespace

std::uint64_t largest_of_many(std::vector<std::uint64_t> family_bytes, std::size_t fewest)
{
    std::ranges::sort(family_bytes);
    std::uint64_t sum = std::accumulate(family_bytes.begin(), family_bytes.end(), std::uint64_t{0});
    for (std::size_t kept = family_bytes.size(); kept >= std::max<std::size_t>(fewest, 1); --kept) {
        const std::uint64_t largest = family_bytes[kept - 1];
        if (largest <= sum / std::max<std::size_t>(fewest, 1)) {
            return largest;
        }
        sum -= largest;
    }
    return 0;
}

Reachability reachability(std::span<const HeldBlock> blocks, std::span<const AddressRange> roots,
                          const ReadMemory& read)
{
    Reachability result;
    result.is_reachable.resize(blocks.size());
    result.family.resize(blocks.size(), Reachability::no_family);
    PointerScan scan{blocks, read};
    std::vector<std::size_t> waiting;
    const auto reach = [&](std::size_t place) {
        const bool is_new = !result.is_reachable[place];
        result.is_reachable[place] = true;
        return is_new;
    };
    for (const AddressRange& root : roots) {
        result.root_bytes += root.end - root.begin;
        result.unread_root_bytes += scan.look_at(root.begin, root.end, [&](std::size_t place) {
            if (reach(place)) {
                waiting.push_back(place);
            }
        });
    }
    spread(scan, waiting, reach);

    std::vector<bool> is_pointed_to(blocks.size());
    for (std::size_t place = 0; place < blocks.size(); ++place) {
        if (!result.is_reachable[place]) {
            scan.look_in(place,
                         [&](std::size_t found) { is_pointed_to[found] = is_pointed_to[found] || found != place; });
        }
    }
    for (std::size_t place = 0; place < blocks.size(); ++place) {
        if (result.is_reachable[place] || is_pointed_to[place]) {
            continue;
        }
        const auto family = static_cast<std::uint32_t>(result.family_bytes.size());
        result.family_bytes.push_back(0);
        const auto join = [&](std::size_t found) {
            if (result.is_reachable[found] || result.family[found] != Reachability::no_family) {
                return false;
            }
            result.family[found] = family;
            result.family_bytes[family] += blocks[found].requested;
            return true;
        };
        join(place);
        waiting.push_back(place);
        spread(scan, waiting, join);
    }
    return result;
}

}  // namespace memsweep::measure
