// The test framework, whichever major version the system has (Debian 12: Catch2 v2; Debian 13: v3), by the names of v2.
#pragma once
#if __has_include(<catch2/catch_test_macros.hpp>)
// Not catch_all.hpp: its Contains() is about ranges, and would take a string for one of characters.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
namespace Catch {
namespace Matchers {
inline StringContainsMatcher Contains(const std::string& part)
{
    return ContainsSubstring(part);
}
}  // namespace Matchers
using Matchers::Contains;
using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::StartsWith;
using Matchers::WithinRel;
inline constexpr auto rngSeed = &getSeed;
}  // namespace Catch
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
