// Placeholders: what they become, and what they may not be. The messages are in fixtures/bad/placeholders.jsonc.
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/substitution.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::scenarios {
namespace {

using model::Scalar;

class Substitution {
  public:
    Scalar of(std::string_view text) const
    {
        const auto value = substitute(text, scope_);
        INFO(text << ": " << (value ? "" : value.error().message));
        REQUIRE(value.has_value());
        return *value;
    }

    std::string failure(std::string_view text) const
    {
        const auto value = substitute(text, scope_);
        REQUIRE_FALSE(value.has_value());
        return value.error().message;
    }

  private:
    Surroundings surroundings_{test::fake_surroundings()};
    Variables variables_{{"count", Scalar{std::int64_t{100}}},
                         {"size", Scalar{std::string{"4KiB"}}},
                         {"half", Scalar{0.5}},
                         {"yes", Scalar{true}},
                         {"broken", std::nullopt}};
    std::vector<model::Param> params_{{"mode", Scalar{std::string{"leak"}}}, {"n", Scalar{std::int64_t{-3}}}};
    std::vector<std::string> broken_axes_{"lost"};
    Scope scope_{surroundings_, &variables_, &params_, &broken_axes_};
};

}  // namespace

TEST_CASE("a whole placeholder takes its value's type", "[unit]")
{
    const Substitution substitution;
    CHECK(substitution.of("${count}") == Scalar{std::int64_t{100}});
    CHECK(substitution.of("${half}") == Scalar{0.5});
    CHECK(substitution.of("${yes}") == Scalar{true});
    CHECK(substitution.of("${size}") == Scalar{std::string{"4KiB"}});
    CHECK(substitution.of("${axis.mode}") == Scalar{std::string{"leak"}});
    CHECK(substitution.of("${axis.n}") == Scalar{std::int64_t{-3}});
    CHECK(substitution.of("${ncpus}") == Scalar{std::int64_t{4}});
    CHECK(substitution.of("${page_size}") == Scalar{std::int64_t{4096}});
    CHECK(substitution.of("${memory}") == Scalar{std::int64_t{1} << 34});
    CHECK(substitution.of("${numa_nodes}") == Scalar{std::int64_t{2}});
    CHECK(substitution.of("${devices}") == Scalar{std::int64_t{0}});
}

TEST_CASE("inside a longer string a placeholder is text", "[unit]")
{
    const Substitution substitution;
    CHECK(substitution.of("${count}B") == Scalar{std::string{"100B"}});
    CHECK(substitution.of("a ${half} ${yes}${axis.n}") == Scalar{std::string{"a 0.5 true-3"}});
    CHECK(substitution.of("${count}${count}") == Scalar{std::string{"100100"}});
    CHECK(substitution.of("no placeholder $ { }") == Scalar{std::string{"no placeholder $ { }"}});
    CHECK(substitution.of("") == Scalar{std::string{}});
}

TEST_CASE("environment values are scalars when whole, text otherwise", "[unit]")
{
    const Substitution substitution;
    CHECK(substitution.of("${env:ANSWER}") == Scalar{std::int64_t{42}});
    CHECK(substitution.of("${env:ANSWER:-7}") == Scalar{std::int64_t{42}});
    CHECK(substitution.of("${env:MISSING:-7}") == Scalar{std::int64_t{7}});
    CHECK(substitution.of("${env:EMPTY:-7}") == Scalar{std::int64_t{7}});
    CHECK(substitution.of("${env:MISSING:-a:-b}") == Scalar{std::string{"a:-b"}});
    CHECK(substitution.of("${env:MISSING:-}") == Scalar{std::string{}});
    CHECK(substitution.of("x${env:ANSWER}") == Scalar{std::string{"x42"}});
    CHECK(substitution.failure("${env:LONG}") == "environment variable LONG is too long or not plain UTF-8 text");
    CHECK(substitution.failure("${env:1A}") == "\"1A\" is not the name of an environment variable");
}

TEST_CASE("what was reported as broken is not reported again", "[unit]")
{
    const Substitution substitution;
    CHECK(substitution.failure("${broken}") == "");
    CHECK(substitution.failure("x${axis.lost}") == "");
}

TEST_CASE("a string cannot grow without end", "[unit]")
{
    const Substitution substitution;
    std::string text;
    for (int i = 0; i < 9'000; ++i) {
        text += "${size}";
    }
    CHECK(substitution.of(text) != Scalar{});
    CHECK(substitution.failure(std::string(max_text_bytes + 1, 'a')) == "a string longer than 65536 bytes");
    std::string growing;
    for (int i = 0; i < 6'000; ++i) {
        growing += "${env:X:-0}${axis.n}${memory}";
        if (growing.size() > max_text_bytes - 40) {
            break;
        }
    }
    CHECK_NOTHROW(substitution.of(growing));
}

TEST_CASE("text is read as a JSON scalar where it is one", "[unit]")
{
    CHECK(scalar_of_text("true") == Scalar{true});
    CHECK(scalar_of_text("4096") == Scalar{std::int64_t{4096}});
    CHECK(scalar_of_text("-1") == Scalar{std::int64_t{-1}});
    CHECK(scalar_of_text("0.5") == Scalar{0.5});
    CHECK(scalar_of_text("1e3") == Scalar{1000.0});
    CHECK(scalar_of_text("\"4096\"") == Scalar{std::string{"4096"}});
    CHECK(scalar_of_text("9223372036854775807") == Scalar{INT64_MAX});
    for (const char* text : {"4KiB", "True", "null", "", "01", "9223372036854775808", "18446744073709551616", "1e999",
                             "[1]", "{}", "[[[[", "nan", "1 2"}) {
        CHECK(scalar_of_text(text) == Scalar{std::string{text}});
    }
}

}  // namespace memsweep::scenarios
