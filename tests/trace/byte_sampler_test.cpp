#include "core/trace/recorder/byte_sampler.hpp"

#include <cmath>
#include <cstdint>

#include "core/base/rng.hpp"
#include "tests/support/catch.hpp"

using memsweep::base::Rng;
using memsweep::trace::recorder::ByteSampler;

namespace {

struct SampledSums {
    double all{};
    double estimated{};
    std::uint64_t taken{};
};

// Blocks of sizes from a byte to some MiB, each weighed by how often one of its size is taken.
SampledSums sampled_sums(std::uint64_t seed, std::uint64_t every)
{
    Rng sizes{seed};
    ByteSampler sampler;
    sampler.begin(seed * 7919 + 1);
    std::uint64_t unsampled = sampler.draw_gap(every);
    SampledSums sums;
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t size = (sizes.next() >> (42U + sizes.below(22))) + 1;
        const auto bytes = static_cast<double>(size);
        sums.all += bytes;
        if (sampler.takes(size, every, unsampled)) {
            ++sums.taken;
            sums.estimated += bytes / -std::expm1(-bytes / static_cast<double>(every));
        }
    }
    return sums;
}

}  // namespace

TEST_CASE("a sample by bytes: sums over it are those over all, within three standard errors", "[unit]")
{
    constexpr std::uint64_t every = 65'536;
    int within = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const SampledSums sums = sampled_sums(seed, every);
        CHECK(sums.taken < 20'000);
        within += std::abs(sums.estimated - sums.all) <= 3 * std::sqrt(static_cast<double>(every) * sums.all) ? 1 : 0;
    }
    CHECK(within >= 99);
}

TEST_CASE("a sample by bytes: zeroed it has not begun, and what ended begins anew", "[unit]")
{
    ByteSampler sampler;
    CHECK_FALSE(sampler.has_begun());
    sampler.begin(5);
    CHECK(sampler.has_begun());
    sampler.end();
    CHECK_FALSE(sampler.has_begun());
}
