#include <algorithm>

#include "reporters/ci/ci_formats.hpp"
#include "reporters/text/escaping.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

using Row = std::vector<std::string>;

// RFC 4180, strictly: CRLF ends a row, a quoted field may hold anything.
std::vector<Row> parsed(const std::string& text)
{
    std::vector<Row> rows{{""}};
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '"' && text.substr(i, 2) == "\"\"") {
            rows.back().back() += text[i++];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && c == ',') {
            rows.back().emplace_back();
        } else if (!quoted && text.substr(i, 2) == "\r\n") {
            rows.push_back({""});
            ++i;
        } else {
            rows.back().back() += c;
        }
    }
    REQUIRE_FALSE(quoted);
    rows.pop_back();
    return rows;
}

std::string text(void (*write)(const model::RunReport&, TextSink&), const model::RunReport& report)
{
    return whole_text([&](TextSink& sink) { write(report, sink); });
}

bool are_rectangular(const std::vector<Row>& rows)
{
    return std::ranges::all_of(rows, [&](const Row& row) { return row.size() == rows.front().size(); });
}

}  // namespace

TEST_CASE("csv has one row per repetition and metric, and one for a case without values", "[unit]")
{
    const auto rows = parsed(text(write_csv, sample_report()));
    REQUIRE(rows.size() == 1 + 2 * 9 * 6 + 2);
    CHECK(rows[0] == Row{"run_id", "started", "host", "scenario", "case", "params", "metric", "unit", "better",
                         "repetition", "value", "status", "axis.count", "axis.mode"});
    CHECK(rows[2] == Row{"20260131T120000Z-4f2a", "2026-01-31T12:00:00.000Z", "bench-1", "finalizer_repro",
                         "finalizer_repro/count=100/mode=refcount", "count=100/mode=refcount", "wall_time", "s",
                         "lower", "1", "0.1196184", "ok", "100", "refcount"});
    CHECK(rows.back()[6].empty());
    CHECK(rows.back()[11] == "timeout");
    CHECK(are_rectangular(rows));
}

TEST_CASE("csv-summary has one row per case and metric", "[unit]")
{
    const auto rows = parsed(text(write_csv_summary, sample_report()));
    REQUIRE(rows.size() == 1 + 2 * 9 + 2);
    CHECK(are_rectangular(rows));
    const auto absent = std::ranges::find_if(rows, [](const Row& row) { return row[6] == "fault_cost"; });
    REQUIRE(absent != rows.end());
    CHECK((*absent)[9] == "0");
    CHECK((*absent)[11].empty());
}

TEST_CASE("csv-series has one row per sample", "[unit]")
{
    const auto rows = parsed(text(write_csv_series, sample_report()));
    CHECK(rows.size() == 1 + 2 * 6 * (4 + 3));
    CHECK(rows[0] == Row{"run_id", "case", "repetition", "series", "t", "value"});
    CHECK(are_rectangular(rows));
}

TEST_CASE("hostile names come back from csv as they were, but for bytes that are no text", "[unit]")
{
    const model::RunReport report = hostile_report();
    const auto rows = parsed(text(write_csv, report));
    CHECK(are_rectangular(rows));
    CHECK(rows[1][2] == repaired_utf8(report.machine.host));
    CHECK(rows[1][4] == repaired_utf8(report.cases[0].id));
    CHECK(rows[2][10].empty());  // not a number
    CHECK(are_rectangular(parsed(text(write_csv_summary, report))));
    CHECK(are_rectangular(parsed(text(write_csv_series, report))));
}

}  // namespace memsweep::reporters
