#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "reporters/ci/benchmark_trackers.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/formats.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

using Unordered = nlohmann::json;

Unordered parsed(void (*write)(const model::RunReport&, TextSink&), const model::RunReport& report)
{
    return Unordered::parse(whole_text([&](TextSink& sink) { write(report, sink); }));
}

bool is_plain(const std::string& name)
{
    return std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '<' && c != '\''; });
}

// Many names beyond every limit that a tracker has.
model::RunReport report_with_long_names()
{
    model::RunReport report = sample_report();
    report.cases[0].id = std::string(5000, 'x') + "1";
    report.cases[1].id = std::string(5000, 'x') + "2";
    return report;
}

}  // namespace

TEST_CASE("names for trackers are plain ASCII, and no two are alike", "[unit]")
{
    CHECK(ascii_name("churn/mode=refcount/size=4KiB") == "churn/mode=refcount/size=4KiB");
    CHECK(ascii_name("a b\"%\n") == "a%20b%22%25%0A");
    CHECK(ascii_name("\xff") == "%EF%BF%BD");
    CHECK(unique_names({"a", "a", "b", "a", "a#2"}) == std::vector<std::string>{"a", "a#2", "b", "a#3", "a#2#2"});
}

TEST_CASE("gbench has an entry per repetition and names the cases it leaves out", "[unit]")
{
    const Unordered json = parsed(write_gbench, sample_report());
    CHECK(json["context"]["json_schema_version"] == 1);
    CHECK(json["context"]["library_build_type"] == "release");
    REQUIRE(json["benchmarks"].size() == 2 * 6);
    const Unordered& entry = json["benchmarks"][1];
    CHECK(entry["name"] == "finalizer_repro/count=100/mode=refcount");
    CHECK(entry["run_type"] == "iteration");
    CHECK(entry["repetition_index"] == 1);
    CHECK(entry["real_time"] == 119'618'400);
    CHECK(entry["time_unit"] == "ns");
    CHECK(entry["minor_faults"] == 195'313);
    CHECK_FALSE(entry.contains("fault_cost"));  // was not measured
    REQUIRE(json["context"]["memsweep_skipped"].size() == 2);
    CHECK(json["context"]["memsweep_skipped"][1]["status"] == "timeout");
}

TEST_CASE("gbench never writes a time that was not measured, and no metric passes for a key of the format", "[unit]")
{
    model::RunReport report = sample_report();
    report.cases[0].metrics[0].values[2] = std::nullopt;        // one wall_time
    report.cases[1].metrics[1].values.assign(6, std::nullopt);  // every cpu_time
    report.cases[0].metrics[2].name = "iterations";
    const Unordered json = parsed(write_gbench, report);
    CHECK(json["benchmarks"].size() == 5);
    CHECK(json["benchmarks"][0]["iterations"] == 1);
    CHECK(json["benchmarks"][0].contains("memsweep_iterations"));
    CHECK(json["context"]["memsweep_skipped"].size() == 3);
}

TEST_CASE("gha has one file per direction", "[unit]")
{
    model::RunReport report = sample_report();
    CHECK(gha_fits_one_file(report));
    CHECK(parsed(write_gha_bigger, report).empty());
    report.cases[0].metrics[2].better = model::Better::higher;
    CHECK_FALSE(gha_fits_one_file(report));
    const Unordered bigger = parsed(write_gha_bigger, report);
    REQUIRE(bigger.size() == 1);
    CHECK(bigger[0]["name"] == "finalizer_repro/count=100/mode=refcount/time_per_op");
    const Unordered smaller = parsed(write_gha_smaller, report);
    CHECK(smaller.size() == 2 * 8 - 1);  // fault_cost has no median
    CHECK(smaller[0]["unit"] == "s");
    CHECK(smaller[0]["value"].get<double>() > 0.118);
    CHECK(smaller[0]["range"].get<std::string>().starts_with("± 0.0017"));
    CHECK(smaller[0]["extra"].get<std::string>().starts_with("n=6\nmad="));
}

TEST_CASE("bmf has the interval as bounds, and names that Bencher takes", "[unit]")
{
    const Unordered json = parsed(write_bmf, sample_report());
    const Unordered& time = json["finalizer_repro/count=100/mode=refcount"]["wall-time"];
    CHECK(time["lower_value"] < time["value"]);
    CHECK(time["value"] < time["upper_value"]);
    const Unordered with_long_names = parsed(write_bmf, report_with_long_names());
    CHECK(with_long_names.size() == 2);
    for (const auto& [name, measures] : with_long_names.items()) {
        CHECK(name.size() <= 1024);
    }
}

TEST_CASE("a format with parts names a file for each of them", "[unit]")
{
    const auto paths = [](std::string_view format, const std::string& path) {
        std::vector<std::string> all;
        for (const FormatFile& file : files_of(*find_format(format), path)) {
            all.push_back(file.path);
        }
        return all;
    };
    CHECK(paths("gha", "out/NAME") == std::vector<std::string>{"out/NAME.smaller.json", "out/NAME.bigger.json"});
    CHECK(paths("gha", "NAME.json") == std::vector<std::string>{"NAME.smaller.json", "NAME.bigger.json"});
    CHECK(paths("csv", "r.csv") == std::vector<std::string>{"r.csv", "r.summary.csv", "r.series.csv", "r.matrix.csv"});
    CHECK(paths("csv", "data") ==
          std::vector<std::string>{"data", "data.summary.csv", "data.series.csv", "data.matrix.csv"});
    CHECK(paths("html", "r.html") == std::vector<std::string>{"r.html"});
}

TEST_CASE("hostile names become plain ones in every format for trackers", "[unit]")
{
    const model::RunReport report = hostile_report();
    const Unordered gbench = parsed(write_gbench, report);
    CHECK(gbench["benchmarks"].size() == 2 * 6 - 1);  // a time that is not a number
    std::set<std::string> names;
    for (const Unordered& entry : gbench["benchmarks"]) {
        names.insert(entry["name"].get<std::string>());
    }
    const Unordered smaller = parsed(write_gha_smaller, report);
    for (const Unordered& entry : smaller) {
        names.insert(entry["name"].get<std::string>());
    }
    const Unordered bmf = parsed(write_bmf, report);
    CHECK(bmf.size() == 2);
    for (const auto& [name, measures] : bmf.items()) {
        names.insert(name);
    }
    CHECK(std::ranges::all_of(names, is_plain));
}

}  // namespace memsweep::reporters
