#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/printable.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/document.hpp"
#include "reporters/document/table.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"
#include "reporters/text/json_parse.hpp"
#include "reporters/text/number_text.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {

using Lines = std::vector<std::string>;

TEST_CASE("names that are shortened together stay apart", "[unit]")
{
    const auto apart = [](const std::vector<std::string>& names, int width) {
        std::vector<std::string> all = elided_apart(names, width);
        for (const std::string& name : all) {
            CHECK(display_width(name) <= width + 3);  // a number, if nothing else tells them apart
        }
        CHECK(std::set(all.begin(), all.end()).size() == std::set(names.begin(), names.end()).size());
        return all;
    };
    CHECK(apart({"short", "also short"}, 20) == std::vector<std::string>{"short", "also short"});
    const std::string policy = "the_longest_case_name_somebody_writes_for_a_release_policy_";
    for (const int width : {22, 38}) {
        apart({policy + "00, 64KiB", policy + "00, 1MiB", policy + "01, 64KiB", policy + "01, 1MiB"}, width);
        apart({policy + "a" + policy, policy + "b" + policy, policy + "a" + policy}, width);
        apart({"größe_" + policy + "ä" + policy, "größe_" + policy + "ö" + policy}, width);
        apart({policy, policy + policy, policy + policy + policy}, width);
    }
    CHECK(apart({policy + "one" + policy, policy + "two" + policy}, 38)[0].find("one") != std::string::npos);
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one, the rest is kept", "[unit]")
{
    CHECK(repaired_utf8("naïve 数组 🙂") == "naïve 数组 🙂");
    CHECK(repaired_utf8("a\xff\xfe"
                        "b") == "a\uFFFD\uFFFDb");
    CHECK(repaired_utf8("\xc3") == "\uFFFD");
    CHECK(repaired_utf8("\xc0\xaf") == "\uFFFD\uFFFD");                      // overlong
    CHECK(repaired_utf8("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");            // a surrogate
    CHECK(repaired_utf8("\xf4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");  // above U+10FFFF
    CHECK(repaired_utf8("\xe6\x95") == "\uFFFD\uFFFD");
    CHECK(repaired_utf8("") == "");
}

TEST_CASE("inert text has one line and cannot steer a terminal", "[unit]")
{
    CHECK(inert_text("a\nb\tc\rd") == "a b c d");
    CHECK(inert_text("\x1b[31m") == "\uFFFD[31m");
    CHECK(inert_text(std::string("\0", 1)) == "\uFFFD");
    CHECK(inert_text("\u009b31m \u202e \u2028") == "\uFFFD31m \uFFFD \uFFFD");
}

TEST_CASE("numbers are written shortest, and not at all when they are none", "[unit]")
{
    CHECK(number_text(195313) == "195313");
    CHECK(number_text(-0.0) == "0");
    CHECK(number_text(0.1) == "0.1");
    CHECK(number_text(std::nan("")).empty());
    CHECK(number_text(-std::numeric_limits<double>::infinity()).empty());
}

TEST_CASE("figures are rounded for people and kept in full beside it", "[unit]")
{
    const Cell cell = value_cell(800'000'000, model::Unit::bytes);
    CHECK(cell.text == "762.9 MiB");
    CHECK(cell.exact == "800,000,000 B");
    CHECK(value_cell(std::nullopt, model::Unit::bytes).text.empty());
    CHECK(value_cell(std::nan(""), model::Unit::seconds).text.empty());
    CHECK(exact_text(0.00125, model::Unit::seconds) == "0.00125 s");
    CHECK(percent_text(0.0079) == "0.8%");
    CHECK(percent_text(12.5) == "1,250.0%");
    CHECK(percent_text(-0.0001) == "0.0%");
    CHECK(plural(30455, "block") == "30,455 blocks");
    CHECK(median_of({3, 1, std::nan(""), 2}) == 2.0);
    CHECK(median_of({1, 2}) == 1.5);
    CHECK_FALSE(median_of({std::nan("")}));
}

TEST_CASE("a command line can be pasted into a shell", "[unit]")
{
    CHECK(command_line({"memsweep", "run", "a b", "it's", "", "$HOME", "-a", "size=[4KiB:1MiB:*4]"}) ==
          "memsweep run 'a b' 'it'\\''s' '' '$HOME' -a 'size=[4KiB:1MiB:*4]'");
}

TEST_CASE("names are elided in the middle, between their parts where one fits", "[unit]")
{
    CHECK(elided("deferred_batch", 14) == "deferred_batch");
    CHECK(elided("deferred_batch", 9) == "defe…atch");
    CHECK(elided("deferred_batch", 1) == "…");
    CHECK(elided("working_set_peak_delta", 17) == "working_…_delta");
    CHECK(elided("churn/mode=refcount/placement=sweep/size=4096", 30) == "churn/…/size=4096");
    CHECK(elided("churn/mode=refcount/size=4096", 21) == "churn/…/size=4096");
    CHECK(elided("churn/mode=refcount/size=4096", 14) == "churn/…=4096");
    CHECK(elided("churn/mode=refcount/size=4096", 14, Cut::anywhere) == "churn/m…e=4096");
    CHECK(elided("churn/mode=refcount/s=4", 10) == "churn…/s=4");
    CHECK(display_width(elided("数组数组数组", 6)) <= 6);
    CHECK(display_width("e\u0301") == 1);
}

TEST_CASE("text is wrapped at blanks, and words that are too long are cut, behind a slash if they have one", "[unit]")
{
    CHECK(wrapped("one two  three", 7) == Lines{"one two", "three"});
    CHECK(wrapped("abcdefgh ij", 3) == Lines{"abc", "def", "gh", "ij"});
    CHECK(wrapped("churn/mode=pool/size=4096", 17) == Lines{"churn/mode=pool/", "size=4096"});
    CHECK(wrapped("/abcdefgh", 5) == Lines{"/abcd", "efgh"});
    CHECK(wrapped("after_collect", 9, "_-") == Lines{"after_", "collect"});
    CHECK(wrapped("after_collect", 20, "_-") == Lines{"after_collect"});
    CHECK(wrapped("", 5).empty());
    CHECK(wrapped("takes 12 % more", 8) == Lines{"takes", "12 %", "more"});
    CHECK(wrapped("peak 9.5 MiB; then", 13) == Lines{"peak 9.5 MiB;", "then"});
    CHECK(wrapped("peak 9.5 MiB; then", 9) == Lines{"peak", "9.5 MiB;", "then"});
    CHECK(wrapped("7 times", 5) == Lines{"7", "times"});
    CHECK(wrapped("5 ", 5) == Lines{"5"});
    CHECK(longest_word("after_collect now", "_") == 7);
}

TEST_CASE("a thinned curve keeps its ends and its extremes", "[unit]")
{
    std::vector<double> values(10'000, 1.0);
    values[1234] = 99;
    values[7777] = -5;
    values[5000] = std::nan("");
    const auto kept = thinned(values, 200);
    CHECK(kept.size() <= 200);
    CHECK(std::ranges::is_sorted(kept));
    CHECK(std::ranges::adjacent_find(kept) == kept.end());
    CHECK(kept.front() == 0);
    CHECK(kept.back() == values.size() - 1);
    for (const std::size_t extreme : {std::size_t{1234}, std::size_t{7777}}) {
        CHECK(std::ranges::find(kept, extreme) != kept.end());
    }
    CHECK(std::ranges::find(kept, std::size_t{5000}) == kept.end());
    CHECK(thinned(std::vector<double>{1, 2, 3}, 200) == std::vector<std::size_t>{0, 1, 2});
    CHECK(thinned({}, 200).empty());
}

TEST_CASE("lists in braces are objects when every item is a pair that begins with a text", "[unit]")
{
    CHECK(compact({{"a", 1}, {"b", nullptr}}) == R"({"a":1,"b":null})");
    CHECK(compact({{"a", {{"b", {1, 2.5}}}}}) == R"({"a":{"b":[1,2.5]}})");
    CHECK(compact({"a", "b", "c"}) == R"(["a","b","c"])");
    CHECK(compact(Json::array({{{"a", "b"}}})) == R"([{"a":"b"}])");
    CHECK(compact(Json{}) == "null");
    Json json;
    json["list"].push_back(true);
    json["object"]["key"] = std::vector<std::uint32_t>{3, 4};
    json.update({{"list", -1}, {"new", Json::object()}});
    CHECK(compact(json) == R"({"list":-1,"object":{"key":[3,4]},"new":{}})");
}

TEST_CASE("JSON is indented as nlohmann/json does it, and read back", "[unit]")
{
    const Json json{{"text", "quote \" slash \\ line\n tab\t bell\a é"},
                    {"reals", {0.0, 1.0, -2.0, 0.1, 1e-5, 1e14, 1e15, -1.5e15, 123456789012345680.0, 1e300}},
                    {"whole", {0, -1, std::uint64_t{18446744073709551615U}}},
                    {"empty", {Json::array(), Json::object(), nullptr, true}}};
    const std::string text = indented(json);
    CHECK(text == nlohmann::ordered_json::parse(text).dump(2));
    CHECK(indented(json_of(text)) == text);
    CHECK(compact(json_of(compact(json))) == compact(json));
}

TEST_CASE("a text from a file is no formula to a spreadsheet", "[unit]")
{
    CHECK(csv_text("=1+2") == "'=1+2");
    CHECK(csv_text("+1") == "'+1");
    CHECK(csv_text("-cmd|' /C calc'!A0") == "'-cmd|' /C calc'!A0");
    CHECK(csv_text("@SUM(1,2)") == "\"'@SUM(1,2)\"");
    CHECK(csv_text("\t=1") == "'\t=1");
    CHECK(csv_text("a=1") == "a=1");
    CHECK(csv_text("").empty());
}

TEST_CASE("no line is a command to the log of a CI service", "[unit]")
{
    CHECK(without_commands("::error::a\n  ::warning file=b::c\nd ::e\n") ==
          "\\::error::a\n  \\::warning file=b::c\nd ::e\n");
    CHECK(without_commands("a: b\n\nc # d [e] ## f [g] #h[i]") == "a: b\n\nc # d [e] ## f [g] #h[i]");
    Document document;
    document.add(Paragraph{.text = "::error::owned", .mark = "  "});
    CHECK(to_terminal(document, {.width = 80}) == "  \\::error::owned\n");
    CHECK(markdown_text("::error::owned").starts_with("<!-- -->"));

    // The rules of the three parsers: a line is trimmed of all that .NET calls white space and then begins with "::";
    // of the others the keyword stands anywhere in a line.
    constexpr std::array<std::string_view, 26> white{
        "",       " ",      "\t",     "\v",     "\f",     "\r",     "\u0085", "\u00A0",   "\u1680",
        "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",   "\u2008",
        "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000", " \u3000\t"};
    for (const std::string_view blank : white) {
        const std::string line = fmt::format("{}::set-env name=A::b", blank);
        CHECK(without_commands(line) == fmt::format("{}\\::set-env name=A::b", blank));
        CHECK(without_commands("first\n" + line) == fmt::format("first\n{}\\::set-env name=A::b", blank));
        CHECK(begins_command(line));
        CHECK_FALSE(begins_command(markdown_text(line)));
    }
    for (const std::string_view keyword : {"##[", "##vso[", "##teamcity[", "###[", "a##vso["}) {
        for (const std::string_view before : {"", "a ", "\u3000", "#", "##"}) {
            const std::string line = fmt::format("{}{}x]y", before, keyword);
            CHECK(without_commands(line).find(keyword.substr(keyword.size() - 2)) == std::string::npos);
            CHECK(markdown_text(line).find(keyword) == std::string::npos);
        }
    }
}

TEST_CASE("what a terminal shows steers neither it nor its reader", "[unit]")
{
    const std::string hostile = "a\x1b[2Jb\u009Bc\u202Ed\u2066e\u200Ff\u061Cg\nh";
    CHECK(inert_lines(hostile) == "a\uFFFD[2Jb\uFFFDc\uFFFDd\uFFFDe\uFFFDf\uFFFDg\nh");
    CHECK(base::printable("a\u202Eb\u200Fc\u2028d\u2066e\u061Cf\u3000") ==
          "a\\xe2\\x80\\xaeb\\xe2\\x80\\x8fc\\xe2\\x80\\xa8d\\xe2\\x81\\xa6e\\xd8\\x9cf\u3000");
}

}  // namespace memsweep::reporters
