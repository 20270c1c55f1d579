#include "core/probe/chase.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/assert.hpp"
#include "core/base/rng.hpp"

namespace memsweep::probe {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t block_bytes = 256;
constexpr std::size_t lines_in_block = block_bytes / line_bytes;
constexpr std::array<std::size_t, 5> known_chains{1, 2, 4, 8, 16};

std::vector<std::uint32_t> shuffled(std::size_t count, base::Rng& rng)
{
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(order);
    return order;
}

// Links lines in the order in which they are given.
class Linker {
  public:
    void add(std::byte* line)
    {
        auto* const here = reinterpret_cast<void**>(line);
        if (first_ == nullptr) {
            first_ = here;
        } else {
            *last_ = here;
        }
        last_ = here;
        ++count_;
    }
    void close() { *last_ = first_; }

    [[nodiscard]] void** first() const { return first_; }
    [[nodiscard]] std::size_t count() const { return count_; }

  private:
    void** first_{};
    void** last_{};
    std::size_t count_{};
};

template <std::size_t chains>
void follow_chains(std::span<void**> heads, std::size_t loads) noexcept
{
    std::array<void**, chains> at{};
    std::copy_n(heads.begin(), chains, at.begin());
    for (std::size_t load = 0; load < loads; ++load) {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < chains; ++i) {
            at[i] = static_cast<void**>(*at[i]);
        }
        asm volatile("" ::: "memory");  // the loads happen, one after the other
    }
    std::copy_n(at.begin(), chains, heads.begin());
}

}  // namespace

Chase::Chase(std::byte* memory, const ChaseSpec& spec)
{
    MEMSWEEP_ASSERT(spec.stride == line_bytes || spec.stride == block_bytes, "a stride that lines are chosen by");
    MEMSWEEP_ASSERT(spec.bytes >= block_bytes, "a chase needs a block to run in");
    base::Rng rng{spec.seed};
    const std::size_t blocks = spec.bytes / block_bytes;
    const std::size_t group_blocks = std::clamp<std::size_t>(spec.group_bytes / block_bytes, 1, blocks);
    const std::size_t groups = (blocks + group_blocks - 1) / group_blocks;
    const std::size_t phases = spec.stride == line_bytes ? lines_in_block : 1;
    const std::uint64_t first_lines_seed = rng.next();
    Linker linker;
    for (std::size_t phase = 0; phase < phases; ++phase) {
        for (const std::uint32_t group : shuffled(groups, rng)) {
            const std::size_t first = group * group_blocks;
            for (const std::uint32_t in_group : shuffled(std::min(group_blocks, blocks - first), rng)) {
                const std::size_t block = first + in_group;
                const std::size_t first_line = base::Rng{first_lines_seed + block}.below(lines_in_block);
                linker.add(memory + block * block_bytes + (first_line + phase) % lines_in_block * line_bytes);
            }
        }
    }
    linker.close();
    start_ = linker.first();
    lines_ = linker.count();
}

std::vector<void**> Chase::starts(std::size_t chains) const
{
    std::vector<void**> places;
    void** at = start_;
    for (std::size_t chain = 0; chain < chains; ++chain) {
        places.push_back(at);
        const std::size_t steps = lines_ * (chain + 1) / chains - lines_ * chain / chains;
        follow_chains<1>({&at, 1}, chain + 1 < chains ? steps : 0);
    }
    return places;
}

std::span<const std::size_t> chain_counts() noexcept
{
    return known_chains;
}

void follow(std::span<void**> chains, std::size_t loads) noexcept
{
    switch (chains.size()) {
    case 1:
        return follow_chains<1>(chains, loads);
    case 2:
        return follow_chains<2>(chains, loads);
    case 4:
        return follow_chains<4>(chains, loads);
    case 8:
        return follow_chains<8>(chains, loads);
    case 16:
        return follow_chains<16>(chains, loads);
    default:
        MEMSWEEP_ASSERT(false, "a number of chains that follow() knows");
    }
}

double latency_of(std::span<void**> chains, double seconds, const sys::Clock& clock)
{
    constexpr std::size_t loads_between_reads = 4096;
    std::size_t loads = 0;
    double elapsed = 0;
    const auto begin = clock.now();
    do {
        follow(chains, loads_between_reads);
        loads += loads_between_reads;
        elapsed = sys::seconds_of(clock.now() - begin);
    } while (elapsed < seconds);
    return elapsed / static_cast<double>(loads);
}

}  // namespace memsweep::probe
