// A small seeded random number generator. Shuffled orders and random fills can be repeated from the recorded seed.
//
// Sources  splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
// Cost     one multiply-xor chain, about 1 ns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "core/base/checked.hpp"

namespace memsweep::base {

class Rng {
  public:
    explicit constexpr Rng(std::uint64_t seed) : state_{seed} {}

    [[nodiscard]] constexpr std::uint64_t next()
    {
        state_ += 0x9E3779B97F4A7C15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }

    // Returns a uniformly distributed number in [0, bound), with a bias below bound / 2^64. `bound` must not be 0.
    [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound)
    {
        return static_cast<std::uint64_t>((static_cast<uint128>(next()) * bound) >> 64);
    }

    template <typename RandomAccess>
    constexpr void shuffle(RandomAccess& values)
    {
        for (std::size_t i = values.size(); i > 1; --i) {
            using std::swap;
            swap(values[i - 1], values[below(i)]);
        }
    }

    // Fills the bytes with random data, because hardware may treat simple data in a special way. For example, some
    // processors store zeros faster.
    void fill(std::span<std::byte> bytes) noexcept
    {
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
            const std::uint64_t word = next();
            std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
        }
    }

  private:
    std::uint64_t state_;
};

}  // namespace memsweep::base
