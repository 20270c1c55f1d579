#include "core/base/text.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/expected.hpp"
#include "core/base/printable.hpp"
#include "core/base/rng.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;

TEST_CASE("a mistyped word finds its neighbour", "[unit]")
{
    constexpr std::array<std::string_view, 3> known{"repetitions", "warmup", "timeout"};
    CHECK(base::nearest("repetition", known) == "repetitions");
    CHECK(base::nearest("timout", known) == "timeout");
    CHECK(base::nearest("colour", known).empty());
    CHECK(base::nearest(std::string(100'000, 'x'), known).empty());
    CHECK(base::suggestion("warmpu", known) == "; did you mean \"warmup\"?");
    CHECK(base::suggestion("zzz", known) == "; known: repetitions, warmup, timeout");
    CHECK(base::suggestion("zzz", {}).empty());
    const std::vector<std::string_view> too_many_to_read(41, "repetitions");
    CHECK(base::suggestion("zzz", too_many_to_read).empty());
    CHECK(base::suggestion("repetition", too_many_to_read) == "; did you mean \"repetitions\"?");
}

TEST_CASE("arithmetic says when it overflows", "[unit]")
{
    CHECK(base::checked_add(1, 2) == 3);
    CHECK(!base::checked_add(~0ULL, 1));
    CHECK(base::checked_mul(1ULL << 32, 1ULL << 31) == 1ULL << 63);
    CHECK(!base::checked_mul(1ULL << 32, 1ULL << 32));
    CHECK(base::saturating_mul(1ULL << 40, 1ULL << 40) == ~0ULL);
    CHECK(base::saturating_add(~0ULL, 7) == ~0ULL);
}

TEST_CASE("a seed gives the same order every time and every element stays", "[unit]")
{
    const auto shuffled = [](std::uint64_t seed) {
        std::vector<int> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        base::Rng{seed}.shuffle(values);
        return values;
    };
    CHECK(shuffled(1) == shuffled(1));
    CHECK(shuffled(1) != shuffled(2));
    auto sorted = shuffled(3);
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    base::Rng rng{42};
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(rng.below(7) < 7);
    }
}

TEST_CASE("printable text steers no terminal and keeps what people write", "[unit]")
{
    CHECK(base::printable("a\x1b[31mb\tc\nd\re\x7f") == "a\\x1b[31mb\\tc\\nd\\re\\x7f");
    CHECK(base::printable("na\u00efve \u4f8b \U0001F40D \"q\" \\") == "na\u00efve \u4f8b \U0001F40D \"q\" \\");
    CHECK(base::printable("\xc2\x9b"
                          "31m\xc2\xa0") == "\\xc2\\x9b31m\xc2\xa0");
    CHECK(base::printable("\xff\xc3") == "\\xff\\xc3");
    CHECK(base::printable("\xe4\xbe") == "\\xe4\\xbe");
    CHECK(base::printable(std::string_view{"\0", 1}) == "\\x00");
}

TEST_CASE("an error is described in text that a terminal may show", "[unit]")
{
    CHECK(base::describe({base::ErrorCode::invalid_input, "unknown \"\x1b[2J\"", "a\x1b]0;t\x07.json:1:2"}) ==
          "a\\x1b]0;t\\x07.json:1:2: unknown \"\\x1b[2J\"");
}
