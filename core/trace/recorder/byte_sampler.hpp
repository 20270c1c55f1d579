// Chooses a sample of a thread's allocations by their bytes. The sampling is a Poisson process: a block of z bytes is
// in the sample with the probability 1 - e^(-z / every), whatever was allocated before it. `every` is the mean number
// of bytes from one sampled block to the next.
//
// Units    bytes.
// Sources  splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. The logarithm
//          is computed here, because the C library has it in libm, which the recorder does not link.
// Cost     some 1 ns per block; 20 ns for a block in the sample.
// Memory   none. A zeroed sampler counts as not begun.
// Threads  one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace memsweep::trace::recorder {

class ByteSampler {
  public:
    [[nodiscard]] bool has_begun() const noexcept { return random_ != 0; }
    void begin(std::uint64_t seed) noexcept { random_ = seed; }
    void end() noexcept { random_ = 0; }

    // Whether the next block, of `size` bytes, is in the sample. `unsampled`: the bytes up to the sampling point,
    // which lies in the next sampled block. The caller keeps this number. For a block smaller than `unsampled`, the
    // caller may subtract the size (at least 1) itself instead of calling takes(). `every`: see the top of this file.
    [[nodiscard]] bool takes(std::uint64_t size, std::uint64_t every, std::uint64_t& unsampled) noexcept
    {
        if (size < unsampled) [[likely]] {
            unsampled -= std::max<std::uint64_t>(size, 1);
            return false;
        }
        unsampled = draw_gap(every);
        return true;
    }
    // Draws the number of bytes up to the next sampling point.
    [[nodiscard]] std::uint64_t draw_gap(std::uint64_t every) noexcept
    {
        constexpr unsigned bits = 52;
        const std::uint64_t drawn = (next_random() >> (64U - bits)) + 1;
        // The gap is exponentially distributed. So the distance to the next sample does not depend on earlier
        // distances.
        const double gap = (logarithm(std::uint64_t{1} << bits) - logarithm(drawn)) * static_cast<double>(every);
        return static_cast<std::uint64_t>(gap) + 1;
    }

  private:
    // Returns the natural logarithm of a number, which must be at least 1.
    static double logarithm(std::uint64_t number) noexcept
    {
        constexpr double of_2 = 0.693147180559945309;
        const auto whole = static_cast<unsigned>(std::bit_width(number)) - 1U;
        const double rest = static_cast<double>(number) / static_cast<double>(std::uint64_t{1} << whole);  // below 2
        const double ratio = (rest - 1) / (rest + 1);
        const double square = ratio * ratio;
        const double series =
            1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9 + square / 11))));
        return whole * of_2 + 2 * ratio * series;
    }

    std::uint64_t next_random() noexcept
    {
        std::uint64_t mixed = random_ += 0x9E3779B97F4A7C15U;
        mixed = (mixed ^ mixed >> 30U) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ mixed >> 27U) * 0x94D049BB133111EBU;
        return mixed ^ mixed >> 31U;
    }

    std::uint64_t random_{};
};

}  // namespace memsweep::trace::recorder
