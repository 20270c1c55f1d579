// The tree of a text, and what is said about a text that is none.
#include <fmt/format.h>

#include "scenarios/reader/diagnostics.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/source_tree.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::scenarios {
namespace {

struct Parsed {
    std::optional<SourceNode> root;
    std::vector<std::string> errors;
};

Parsed parse(std::string_view text)
{
    Diagnostics diagnostics;
    Parsed parsed{parse_source({1, 1, 1, "f"}, text, diagnostics), {}};
    for (const base::Error& error : diagnostics.sorted()) {
        parsed.errors.push_back(describe(error));
    }
    return parsed;
}

std::string only_problem(std::string_view text)
{
    const Parsed parsed = parse(text);
    REQUIRE(parsed.errors.size() == 1);
    return parsed.errors.front();
}

std::string place_at(const SourceNode& root, std::string_view key)
{
    return to_text(find(*root.as<Object>(), key)->place);
}

}  // namespace

TEST_CASE("values and keys know their places", "[unit]")
{
    const Parsed parsed = parse("{ \"a\": 1, // one, \"b\": 2\n  \"c\" /* : */ : [ true, /* , */\n\t\"x\\\"y\" ],\n"
                                "  \"\xC3\xA4\xE2\x82\xAC\": -2.5e3, \"d\":{}}");
    REQUIRE(parsed.errors.empty());
    const SourceNode& root = *parsed.root;
    const Object& object = *root.as<Object>();
    CHECK(to_text(root.place) == "f:1:1");
    CHECK(place_at(root, "a") == "f:1:8");
    CHECK(to_text(object[1].key_place) == "f:2:3");
    CHECK(place_at(root, "c") == "f:2:17");
    const List& list = *find(object, "c")->as<List>();
    CHECK(to_text(list[0].place) == "f:2:19");
    CHECK(to_text(list[1].place) == "f:3:2");
    CHECK(*list[1].as<std::string>() == "x\"y");
    CHECK(to_text(object[2].value.place) == "f:4:9");  // columns are characters, not bytes
    CHECK(*object[2].value.as<double>() == -2500.0);
    CHECK(place_at(root, "d") == "f:4:21");
}

TEST_CASE("numbers keep their kind", "[unit]")
{
    const Parsed parsed = parse("[-1, 9223372036854775807, 9223372036854775808, 18446744073709551615, 1.0, 1e2, "
                                "-9223372036854775808, -0]");
    REQUIRE(parsed.errors.empty());
    const List& list = *parsed.root->as<List>();
    CHECK(*list[0].as<std::int64_t>() == -1);
    CHECK(*list[1].as<std::int64_t>() == INT64_MAX);
    CHECK(*list[2].as<std::uint64_t>() == 9223372036854775808ULL);
    CHECK(*list[3].as<std::uint64_t>() == UINT64_MAX);
    CHECK(*list[4].as<double>() == 1.0);
    CHECK(*list[5].as<double>() == 100.0);
    CHECK(*list[6].as<std::int64_t>() == INT64_MIN);
    CHECK(*list[7].as<std::int64_t>() == 0);
}

TEST_CASE("integers beyond 64 bits are not rounded", "[unit]")
{
    const Parsed parsed = parse("[1,\n 18446744073709551616, -9223372036854775809]");
    CHECK(parsed.errors == std::vector<std::string>{"f:2:2: the integer does not fit 64 bits",
                                                    "f:2:24: the integer does not fit 64 bits"});
    CHECK_FALSE(parsed.root.has_value());
}

TEST_CASE("syntax errors point at the token that is wrong", "[unit]")
{
    CHECK(only_problem("[1, 2\n  ,]") == "f:2:4: trailing comma: JSON allows none before the closing bracket");
    CHECK(only_problem("{\"a\": 1,}") == "f:1:9: trailing comma: JSON allows none before the closing bracket");
    CHECK(only_problem("[1,,2]").starts_with("f:1:4: syntax error while parsing value - unexpected ','"));
    CHECK(only_problem("{\"a\" \"hello\"}").starts_with("f:1:6: syntax error while parsing object separator"));
    CHECK(only_problem("{\n  a: 1}").starts_with("f:2:3: syntax error while parsing object key - invalid literal"));
    CHECK(only_problem("[1, tru]").starts_with("f:1:5: syntax error while parsing value - invalid literal"));
    CHECK(only_problem("// ; expected " + std::string(5'000, 'a') + "\n[a").size() < 200);
    CHECK(only_problem("[-]").starts_with("f:1:2: syntax error while parsing value - invalid number"));
    CHECK(only_problem("[\"abc").starts_with(
        "f:1:2: syntax error while parsing value - invalid string: missing closing quote"));
    CHECK(only_problem("[\"a\\qb\"]")
              .starts_with("f:1:5: syntax error while parsing value - invalid string: forbidden character"));
    CHECK(only_problem("[\"a\nb\"]")
              .starts_with("f:1:4: syntax error while parsing value - invalid string: control character"));
    CHECK(only_problem("[1] [2]").starts_with(
        "f:1:5: syntax error while parsing value - unexpected '['; expected end of input"));
    CHECK(only_problem("[1,\n").starts_with("f:2:1: syntax error while parsing value - unexpected end of input"));
    CHECK(only_problem("[1").starts_with("f:1:3: syntax error while parsing array - unexpected end of input"));
    CHECK(only_problem("").starts_with("f:1:1: syntax error while parsing value - unexpected end of input"));
    CHECK(only_problem("[1] /* open").starts_with("f:1:12: "));
    CHECK(only_problem("[1e999]").starts_with("f:1:2: "));
}

TEST_CASE("a message never repeats the text it is about at length", "[unit]")
{
    const std::string message = only_problem("[\"" + std::string(100'000, 'a') + "\" 1]");
    CHECK(message == "f:1:100005: syntax error while parsing array - unexpected number literal; expected ']'");
}

TEST_CASE("what a parser would let pass is an error", "[unit]")
{
    using namespace std::string_literals;
    CHECK(only_problem("[1]\0[2]"s) == "f:1:4: a control character: byte 0x00");
    CHECK(only_problem("[1] // \xff") == "f:1:8: not valid UTF-8: byte 0xff");
    CHECK(only_problem("[\"\xC3\xA4\xC0\xAF\"]") == "f:1:4: not valid UTF-8: byte 0xc0");
    CHECK(only_problem("[\"\xED\xA0\x80\"]") == "f:1:3: not valid UTF-8: byte 0xed");
    CHECK(only_problem("[\"\xF5\x80\x80\x80\"]") == "f:1:3: not valid UTF-8: byte 0xf5");
    CHECK(only_problem("[\"\xE2\x82").starts_with("f:1:3: not valid UTF-8"));
    CHECK(only_problem("[1]\x7f") == "f:1:4: a control character: byte 0x7f");
}

TEST_CASE("duplicate keys are reported and the first value stays", "[unit]")
{
    const Parsed parsed = parse("{\"a\": 1,\n \"b\": {\"a\": 2, \"a\": [1, {\"a\": 1}]}, \"a\": 3}");
    CHECK(parsed.errors == std::vector<std::string>{"f:2:16: duplicate key \"a\", first at line 2",
                                                    "f:2:37: duplicate key \"a\", first at line 1"});
    REQUIRE(parsed.root.has_value());
    CHECK(*find(*parsed.root->as<Object>(), "a")->as<std::int64_t>() == 1);
    CHECK(parsed.root->as<Object>()->size() == 2);
}

TEST_CASE("keys starting x- are free and left out", "[unit]")
{
    const Parsed parsed = parse("{\"x-a\": {\"b\": [1]}, \"b\": 1, \"x\": 2}");
    CHECK(parsed.errors.empty());
    CHECK(parsed.root->as<Object>()->size() == 2);
}

TEST_CASE("depth, number of values and size are limited", "[unit]")
{
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK(parse(nested(max_depth)).errors.empty());
    CHECK(only_problem(nested(max_depth + 1)) == "f:1:65: nested deeper than 64 levels");
    CHECK(only_problem(std::string(100'000, '[')) == "f:1:65: nested deeper than 64 levels");

    std::string many = "[0";
    for (std::size_t i = 2; i < max_values; ++i) {
        many += ",0";
    }
    CHECK(parse(many + "]").errors.empty());
    CHECK(only_problem(many + ",0]").ends_with("more than 200000 values in one file"));
    CHECK(only_problem(std::string((8U << 20U) + 1, ' ')) == "f:1:1: the file is larger than 8388608 bytes");
}

TEST_CASE("diagnostics are sorted, said once and counted", "[unit]")
{
    Diagnostics diagnostics;
    for (std::uint32_t line = 60; line > 0; --line) {
        diagnostics.add({1, line, 1, "f"}, "wrong");
        diagnostics.add({1, line, 1, "f"}, "wrong");
    }
    diagnostics.begin_case();
    diagnostics.add({1, 7, 1, "f"}, "wrong in another way in the next case");
    const auto errors = diagnostics.sorted();
    REQUIRE(errors.size() == 51);
    CHECK(describe(errors[0]) == "f:1:1: wrong");
    CHECK(describe(errors[49]) == "f:50:1: wrong");
    CHECK(describe(errors[50]) == "and 10 more");
}

}  // namespace memsweep::scenarios
