#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reporters/document/run_document.hpp"
#include "reporters/terminal/terminal_curves.hpp"
#include "reporters/terminal/terminal_table.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/text/display_text.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

std::string without_colour(const std::string& text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b') {
            i = text.find('m', i);
        } else {
            plain += text[i];
        }
    }
    return plain;
}

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = text.find('\n', start);
        lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return lines;
}

// Many axes, long names, many points and phases: more than any line can hold.
model::RunReport wide_report()
{
    model::RunReport report = sample_report();
    for (std::size_t number = 0; number < 30; ++number) {
        model::CaseReport one = report.cases[number % 2];
        one.id = fmt::format("{}/number={}", one.id, number);
        for (std::size_t axis = 0; axis < 6; ++axis) {
            one.params.push_back({fmt::format("axis_with_a_long_name_{}", axis),
                                  fmt::format("value {} of {} and some more text", number, axis)});
        }
        one.params.push_back({"bytes", static_cast<std::int64_t>(number) * 1'000'000'007});
        for (std::size_t name = 0; name < 12; ++name) {
            model::Point point = one.points.front();
            point.name = fmt::format("{}{}", std::string(name * 7, 'p'), name);
            one.points.push_back(point);
            model::Phase phase = one.phases.front();
            phase.name = fmt::format("phase-{}-of_the_case", name);
            one.phases.push_back(phase);
        }
        report.cases.push_back(std::move(one));
    }
    return report;
}

}  // namespace

TEST_CASE("no line of the terminal report is wider than the terminal", "[unit]")
{
    const int width = GENERATE(40, 57, 80, 120, 200);
    const bool verbose = GENERATE(false, true);
    for (const model::RunReport& report : {sample_report(), hostile_report(), wide_report(), model::RunReport{}}) {
        const std::string text = to_terminal(report, {.width = width, .color = false, .verbose = verbose});
        for (const std::string& line : lines_of(text)) {
            INFO(line);
            CHECK(display_width(line) <= width);
            CHECK(line.find_last_not_of(' ') + 1 == line.size());
        }
    }
}

TEST_CASE("a width below 40 is treated as 40", "[unit]")
{
    CHECK((to_terminal(sample_report(), {.width = -1, .color = false, .verbose = false}) ==
           to_terminal(sample_report(), {.width = 40, .color = false, .verbose = false})));
}

TEST_CASE("colour only adds to the text", "[unit]")
{
    for (const model::RunReport& report : {sample_report(), wide_report()}) {
        const std::string plain = to_terminal(report, {});
        const std::string coloured = to_terminal(report, {.width = 80, .color = true, .verbose = false});
        CHECK(plain.find('\x1b') == std::string::npos);
        CHECK(coloured.find("\x1b[31m") != std::string::npos);
        CHECK((without_colour(coloured) == plain));
    }
}

TEST_CASE("names cannot steer the terminal", "[unit]")
{
    const std::string text = to_terminal(hostile_report(), {.width = 80, .color = false, .verbose = true});
    for (const char c : text) {
        CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
    }
    CHECK(text.find("\u202e") == std::string::npos);
}

TEST_CASE("every figure of a table survives splitting it", "[unit]")
{
    Table table{.title = "t", .columns = {{.title = "a long name for a key", .is_key = true}}};
    std::vector<Cell> row{{.text = "an_extraordinarily_long_case_name_that_cannot_fit"}};
    for (int column = 0; column < 9; ++column) {
        table.columns.push_back({.title = fmt::format("column_{}", column), .is_number = true});
        row.push_back({.text = fmt::format("1,234,567,8{} MiB", column)});
    }
    table.rows.push_back(row);
    row.front().text = "a_case_name_that_is_as_long_and_cannot_fit_either";
    table.rows.push_back(row);
    const std::string text = table_text(table, {.width = 80});
    std::size_t parts = 0;
    for (std::size_t at = text.find("an_"); at != std::string::npos; at = text.find("an_", at + 1)) {
        ++parts;
    }
    CHECK(parts > 1);
    for (std::size_t column = 1; column < table.columns.size(); ++column) {
        CHECK(text.find(row[column].text) != std::string::npos);
        CHECK(text.find(table.columns[column].title) != std::string::npos);
    }
}

TEST_CASE("a key that is the same in every row is said once and in full if it would be cut", "[unit]")
{
    const std::string id = "concat_sweep/case=dtype_override_int32_to_float64/mode=finalizer/placement=sweep";
    Table table{.title = "t", .columns = {Column::key("case"), Column::word_key("metric"), Column::number("value")}};
    table.rows = {{{.text = id}, {.text = "wall_time"}, {.text = "1 s"}},
                  {{.text = id}, {.text = "working_set_peak_delta"}, {.text = "2 MiB"}}};
    CHECK(table_text(table, {.width = 80}) ==
          "t\n"
          "case: concat_sweep/case=dtype_override_int32_to_float64/mode=finalizer/\n"
          "      placement=sweep\n"
          "metric                  value\n"
          "wall_time                 1 s\n"
          "working_set_peak_delta  2 MiB\n");
    CHECK_THAT(table_text(table, {.width = 120}), Catch::Contains(id + "  wall_time"));
}

TEST_CASE("what became of a row stands beside its name where a table is split", "[unit]")
{
    Table table{.title = "t", .columns = {Column::key("case")}};
    std::vector<Cell> row{{.text = "one"}};
    for (int i = 0; i < 12; ++i) {
        table.columns.push_back(Column::number("figure"));
        row.push_back({.text = "123.4 MiB"});
    }
    table.columns.push_back(Column::verdict("status"));
    row.push_back({.text = "skipped"});
    table.rows.push_back(row);
    CHECK_THAT(table_text(table, {.width = 80}), Catch::Contains("one   skipped  "));
}

TEST_CASE("names that are shortened stay distinct", "[unit]")
{
    Table table{.title = "t", .columns = {Column::key("case")}};
    for (const char* kernel : {"read", "copy", "triad"}) {
        table.rows.push_back({{.text = fmt::format("probe_latency/chains=1/kernel={}/pages=4k/size=16384", kernel)}});
    }
    for (int i = 0; i < 12; ++i) {
        table.columns.push_back(Column::number("figure"));
        for (auto& row : table.rows) {
            row.push_back({.text = "123.4 MiB"});
        }
    }
    std::set<std::string> names;
    std::istringstream lines{table_text(table, {.width = 80})};
    for (std::string line; std::getline(lines, line);) {
        CHECK(display_width(line) <= 80);
        if (line.find("kernel=") != std::string::npos) {
            names.insert(line.substr(0, line.find(' ')));
        }
    }
    CHECK(names == std::set<std::string>{"…kernel=copy…", "…kernel=read…", "…kernel=triad…"});
}

TEST_CASE("names are cut inside of their parts where they would look the same", "[unit]")
{
    Table table{.title = "t", .columns = {Column::text("case"), Column::number("value")}};
    for (const char* mode : {"refcount", "finalizer"}) {
        const std::string id = fmt::format("c/the_mode={}/placement=in_the_very_middle", mode);
        table.rows.push_back({{.text = id}, {.text = "1"}});
    }
    const std::string text = table_text(table, {.width = 40});
    CHECK(text.find("c/the_mode=refco…") != std::string::npos);
    CHECK(text.find("c/the_mode=final…") != std::string::npos);
    table.rows.resize(1);
    CHECK(table_text(table, {.width = 40}).find("c/…/placement=in_the_very_middle") != std::string::npos);
}

TEST_CASE("warnings that differ only in their case are shown twice and counted", "[unit]")
{
    model::RunReport report = sample_report();
    for (int i = 0; i < 5; ++i) {
        report.warnings.push_back({"noisy", fmt::format("case {} scatters", i), "quiet the machine"});
    }
    const std::string text = to_terminal(report, {});
    CHECK(text.find("noisy: case 1 scatters\n  noisy: 3 more like it; -v shows them\n    quiet the machine\n") !=
          std::string::npos);
    CHECK(text.find("case 2 scatters") == std::string::npos);
    CHECK(to_terminal(report, {.width = 80, .color = false, .verbose = true}).find("case 4 scatters") !=
          std::string::npos);
}

TEST_CASE("a sparkline is as high as its samples and ends where they end", "[unit]")
{
    const model::Series series{"working_set", model::Unit::bytes, 0, {0, 1, 2, 3}, {0, 50, 100, 25}};
    CHECK(sparkline(series, 4, 100, 4) == "▁▅█▃");
    CHECK(sparkline(series, 8, 100, 8) == "▁▅█▃");
    CHECK(sparkline(series, 4, 100, 8) == "▁▁▅▅██▃");
    CHECK(sparkline(series, 4, 100, 2) == "▅█");
    CHECK(sparkline(series, 0, 100, 4).empty());
    CHECK(sparkline({}, 4, 100, 4).empty());
    CHECK(sparkline(series, 4, 0, 4) == "▁▁▁▁");
}

TEST_CASE("each mode has its working set over time, on one time axis", "[unit]")
{
    const std::string text = to_terminal(sample_report(), {});
    const std::size_t at =
        text.find("Working set over time\nfirst repetition, 0 to 173.8 ms, peaks at the right\nrefcount   ");
    REQUIRE(at != std::string::npos);
    CHECK(text.find("\nfinalizer  ", at) != std::string::npos);
    CHECK(text.find("2 of 4 cases ok") < at);
    model::RunReport without = sample_report();
    for (model::CaseReport& one : without.cases) {
        one.series.clear();
    }
    CHECK(to_terminal(without, {}).find("over time") == std::string::npos);
}

TEST_CASE("many cases show their overview and say where the rest is", "[unit]")
{
    const std::string text = to_terminal(wide_report(), {});
    CHECK(text.find("-v shows them") != std::string::npos);
    CHECK(text.find("Memory at the named points") == std::string::npos);
    CHECK(
        to_terminal(wide_report(), {.width = 80, .color = false, .verbose = true}).find("Memory at the named points") !=
        std::string::npos);
}

}  // namespace memsweep::reporters
