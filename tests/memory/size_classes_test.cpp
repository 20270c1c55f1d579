// Size classes: the tables of the schemes, and that every request finds the smallest class that holds it.
#include <algorithm>
#include <vector>

#include "core/base/rng.hpp"
#include "core/memory/size_classes.hpp"
#include "core/model/pool_spec.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::memory {
namespace {

using model::ClassScheme;

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;
constexpr std::uint64_t GiB = 1024 * MiB;

model::PoolSpec spec_of(ClassScheme scheme)
{
    model::PoolSpec spec;
    spec.classes = scheme;
    return spec;
}

std::uint64_t waste(std::uint64_t asked, std::uint64_t given)
{
    return given - asked;
}

}  // namespace

TEST_CASE("size classes: the published tables", "[unit]")
{
    const auto guide = model::class_sizes(ClassScheme::dotcompute_guide, 0, 0);
    CHECK(guide.front() == 4 * KiB);
    CHECK(guide.back() == 512 * MiB);
    CHECK(guide.size() == 18);
    const auto arch = model::class_sizes(ClassScheme::dotcompute_arch, 0, 0);
    CHECK(arch.front() == KiB);
    CHECK(arch.back() == GiB);
    CHECK(arch.size() == 21);
    const auto code = model::class_sizes(ClassScheme::dotcompute_code, 0, 0);
    CHECK(code.front() == 256);
    CHECK(code.back() == 256 * MiB);
    CHECK(code.size() == 21);
}

TEST_CASE("size classes: every size finds the smallest class that holds it", "[unit]")
{
    for (const auto& scheme : model::names<ClassScheme>()) {
        if (scheme.value == ClassScheme::exact) {
            continue;
        }
        INFO("scheme " << scheme.name);
        const model::PoolSpec spec = spec_of(scheme.value);
        SizeClasses classes{spec};
        const auto sizes = model::class_sizes(scheme.value, spec.factor, spec.largest);
        const auto agrees = [&](std::uint64_t bytes) {
            const auto expected = std::ranges::lower_bound(sizes, bytes);
            const std::uint32_t index = classes.index_of(bytes);
            if (expected == sizes.end() || bytes > spec.largest) {
                return index == SizeClasses::none;
            }
            return index != SizeClasses::none && classes.bytes_of(index) == *expected;
        };
        for (std::uint64_t bytes = 1; bytes < 70'000; ++bytes) {
            REQUIRE(agrees(bytes));
        }
        base::Rng rng{1};
        for (int i = 0; i < 100'000; ++i) {
            REQUIRE(agrees(1 + rng.below(std::uint64_t{1} << (1 + rng.below(31)))));
        }
        for (const std::uint64_t size : sizes) {
            REQUIRE(agrees(size - 1));
            REQUIRE(agrees(size));
            REQUIRE(agrees(size + 1));
        }
        CHECK(classes.index_of(0) == SizeClasses::none);
    }
}

TEST_CASE("size classes: what each scheme can waste", "[unit]")
{
    SizeClasses quad{spec_of(ClassScheme::quad)};
    SizeClasses pow2{spec_of(ClassScheme::pow2)};
    for (std::uint64_t bytes = 65; bytes < 200'000; ++bytes) {
        REQUIRE(4 * waste(bytes, quad.bytes_of(quad.index_of(bytes))) < bytes);
        REQUIRE(waste(bytes, pow2.bytes_of(pow2.index_of(bytes))) < bytes);
    }
}

TEST_CASE("size classes: exact sizes become classes until there are 1,024", "[unit]")
{
    SizeClasses exact{spec_of(ClassScheme::exact)};
    std::vector<std::uint32_t> indices;
    for (std::uint64_t bytes = 1; bytes <= SizeClasses::max_exact; ++bytes) {
        indices.push_back(exact.index_of(bytes));
        REQUIRE(exact.bytes_of(indices.back()) == bytes);
    }
    CHECK(exact.index_of(5000) == SizeClasses::none);
    for (std::uint64_t bytes = 1; bytes <= SizeClasses::max_exact; ++bytes) {
        REQUIRE(exact.index_of(bytes) == indices[bytes - 1]);
    }
}

TEST_CASE("size classes: the window bounds every scheme", "[unit]")
{
    for (const auto& scheme : model::names<ClassScheme>()) {
        model::PoolSpec spec = spec_of(scheme.value);
        spec.smallest = 5000;
        spec.largest = 90'000;
        SizeClasses classes{spec};
        INFO("scheme " << scheme.name);
        CHECK(classes.index_of(4999) == SizeClasses::none);
        CHECK(classes.index_of(90'001) == SizeClasses::none);
        const std::uint32_t index = classes.index_of(90'000);
        REQUIRE(index != SizeClasses::none);
        CHECK(classes.bytes_of(index) >= 90'000);
        CHECK(classes.index_of(5000) != SizeClasses::none);
    }
}

TEST_CASE("size classes: only the shipped code looks in its last class for what is larger", "[unit]")
{
    const SizeClasses code{spec_of(ClassScheme::dotcompute_code)};
    CHECK(code.oversize_index(256 * MiB) == SizeClasses::none);
    CHECK(code.oversize_index(256 * MiB + 1) == 20);
    const SizeClasses arch{spec_of(ClassScheme::dotcompute_arch)};
    CHECK(arch.oversize_index(2 * GiB) == SizeClasses::none);
}

}  // namespace memsweep::memory
