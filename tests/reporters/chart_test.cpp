#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reporters/document/answer_chart.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/run_charts.hpp"
#include "reporters/document/sweep_chart.hpp"
#include "reporters/html/chart_writers.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

using Parsed = nlohmann::ordered_json;

Parsed spec_of(const Chart& chart)
{
    return Parsed::parse(compact(chart.spec));
}

std::vector<ChartSection> sections_of(const model::RunReport& report)
{
    return chart_sections(cases_of(report), curve_detail(cases_of(report)));
}

std::size_t records(const Chart& chart, const char* kind)
{
    const Parsed values = spec_of(chart)["data"]["values"];
    return static_cast<std::size_t>(
        std::ranges::count_if(values, [&](const Parsed& value) { return value.value("is", "") == kind; }));
}

model::RunReport swept_report(const std::vector<model::Scalar>& sizes)
{
    model::RunReport report;
    for (const char* touch : {"none", "page"}) {
        for (const model::Scalar& size : sizes) {
            model::CaseReport one = sample_report().cases[0];
            one.params = {{"size", size}, {"touch", std::string{touch}}};
            one.id = fmt::format("sweep/size={}/touch={}", model::to_text(size), touch);
            report.cases.push_back(one);
        }
    }
    return report;
}

}  // namespace

TEST_CASE("modes share a chart on one time axis, and each strip says what was found", "[unit]")
{
    const auto sections = sections_of(sample_report());
    REQUIRE(sections.size() == 1);
    REQUIRE(sections[0].charts.size() == 2);
    const Chart& curves = sections[0].charts[0];
    const Parsed strips = spec_of(curves)["facet"]["row"]["sort"];
    REQUIRE(strips.size() == 2);
    CHECK(strips[0] == "refcount: peak 767.9 MiB");
    CHECK(strips[1].get<std::string>().starts_with("finalizer: peak 767.9 MiB; holds 762.9 MiB after drop"));
    CHECK(curves.spoken.find("finalizer: peak") != std::string::npos);
    CHECK(records(curves, "sample") == 2 * (4 + 3));
    CHECK(records(curves, "phase") == 2 * 4);
    CHECK(curves.data.size() == 4);
    CHECK(spec_of(curves)["spec"]["layer"][3]["encoding"]["x"]["scale"]["domain"] == Parsed({0, 173.8}));
    CHECK(sections[0].charts[1].title == "Page faults by phase");
}

TEST_CASE("what stands above a curve is of the repetition that is drawn, not of all", "[unit]")
{
    model::RunReport report = sample_report();
    for (model::CaseReport& one : report.cases) {
        for (model::Metric& metric : one.metrics) {
            if (metric.name == "working_set_peak" && !metric.values.empty()) {
                metric.values.front() = 10.0 * 1024 * 1024;
            }
        }
        for (model::Point& point : one.points) {
            if (point.repetition == 0 && point.floating_bytes && *point.floating_bytes > 0) {
                point.floating_bytes = 3.0 * 1024 * 1024;
            }
        }
    }
    const Chart curves = sections_of(report)[0].charts[0];
    const Parsed strips = spec_of(curves)["facet"]["row"]["sort"];
    CHECK(strips[0] == "refcount: peak 10.0 MiB");
    CHECK(strips[1].get<std::string>().starts_with("finalizer: peak 10.0 MiB; holds 3.00 MiB after drop"));
    // A result whose first repetition has no series is drawn, and told, by its second.
    for (model::CaseReport& one : report.cases) {
        std::erase_if(one.series, [](const model::Series& series) { return series.repetition == 0; });
    }
    const Chart second = sections_of(report)[0].charts[0];
    CHECK(spec_of(second)["facet"]["row"]["sort"][0] == "refcount: peak 777.2 MiB");
    CHECK(drawn_repetition(report.cases[0]).points.front().repetition == 1);
}

TEST_CASE("phases without a page fault are named, not drawn", "[unit]")
{
    const Chart faults = sections_of(sample_report())[0].charts[1];
    CHECK(spec_of(faults)["facet"]["row"]["sort"] == Parsed({"alloc", "collect", "drain"}));
    CHECK(faults.about.find("No page faults in drop.") != std::string::npos);
    model::RunReport without = sample_report();
    for (model::CaseReport& one : without.cases) {
        for (model::Phase& phase : one.phases) {
            phase.minor_faults = 0;
        }
    }
    CHECK(sections_of(without)[0].charts.size() == 1);
    for (model::Phase& phase : without.cases[0].phases) {
        phase.major_faults = 6;
    }
    REQUIRE(sections_of(without)[0].charts.size() == 2);
    CHECK(sections_of(without)[0].charts[1].about.find("Major faults") != std::string::npos);
}

TEST_CASE("a long curve keeps at most 2,000 samples and its extremes", "[unit]")
{
    model::RunReport report = sample_report();
    for (model::CaseReport& one : report.cases) {
        for (model::Series& series : one.series) {
            series.t.clear();
            series.v.clear();
            for (int i = 0; i < 100'000; ++i) {
                series.t.push_back(i * 1e-5);
                series.v.push_back(i == 54'321 ? 0x1p30 : 0x1p20);
            }
        }
    }
    const Chart curves = sections_of(report)[0].charts[0];
    CHECK(records(curves, "sample") <= 4 * 2'000);
    CHECK(records(curves, "slice") <= 2 * 150);
    const Parsed values = spec_of(curves)["data"]["values"];
    CHECK(std::ranges::any_of(values, [](const Parsed& value) { return value.contains("v") && value["v"] == 1; }));
    for (const Table& table : curves.data) {
        CHECK(table.rows.size() <= 200);
    }
}

TEST_CASE("many curves are kept in less detail each", "[unit]")
{
    model::RunReport report = sample_report();
    for (int i = 0; i < 80; ++i) {
        report.cases.push_back(report.cases[0]);
    }
    const CurveDetail detail = curve_detail(cases_of(report));
    CHECK(detail.samples < 300);
    CHECK(detail.samples >= 100);
    CHECK(detail.rows >= 20);
}

TEST_CASE("the swept axis is found, and is a size when it speaks of one", "[unit]")
{
    const auto charts_of = [](const std::vector<model::Scalar>& sizes) {
        const model::RunReport report = swept_report(sizes);
        return sweep_charts(cases_of(report));
    };
    const auto charts = charts_of({std::string{"4KiB"}, std::string{"64KiB"}, std::string{"1MiB"}});
    REQUIRE(charts.size() == 1);
    CHECK(charts[0].title.ends_with(" by size"));
    CHECK(charts[0].data[0].rows[0][1].text == "4.00 KiB");
    CHECK_FALSE(charts_of({std::int64_t{1}, std::int64_t{2}, std::int64_t{4}}).empty());
    CHECK(charts_of({std::int64_t{1}, std::int64_t{8}}).empty());
    CHECK(charts_of({std::int64_t{10}, std::int64_t{11}, std::int64_t{12}}).empty());
    CHECK(charts_of({std::int64_t{0}, std::int64_t{4}, std::int64_t{16}}).empty());
    CHECK(charts_of({std::string{"small"}, std::string{"large"}, std::string{"huge"}}).empty());
}

TEST_CASE("a sweep is drawn with logarithmic axes and the interval of every median", "[unit]")
{
    const model::RunReport report = swept_report({std::string{"4KiB"}, std::string{"64KiB"}, std::string{"1MiB"}});
    const auto charts = sweep_charts(cases_of(report));
    REQUIRE(charts.size() == 1);
    const Chart& chart = charts[0];
    CHECK(chart.title == "Time per op by size");
    CHECK(spec_of(chart)["encoding"]["x"]["scale"]["type"] == "log");
    CHECK(spec_of(chart)["layer"][0]["encoding"]["y"]["scale"]["type"] == "log");
    CHECK(spec_of(chart)["encoding"]["color"]["scale"]["domain"] == Parsed({"none", "page"}));
    const Parsed values = spec_of(chart)["data"]["values"];
    REQUIRE(values.size() == 6);
    CHECK(values[0]["x"] == 4096);
    CHECK(values[0]["low"] < values[0]["y"]);
    CHECK(values[0]["high"] > values[0]["y"]);
    CHECK(chart.data[0].rows.size() == 6);
}

TEST_CASE("a sweep of latencies is drawn by the least samples, which other work adds to", "[unit]")
{
    model::RunReport report = swept_report({std::string{"4KiB"}, std::string{"64KiB"}, std::string{"1MiB"}});
    for (model::CaseReport& one : report.cases) {
        one.metrics = {one.metrics.front()};
        one.metrics.front().name = "latency";
    }
    const model::Summary summary = *report.cases[0].metrics[0].summary;
    REQUIRE(summary.min < summary.median);
    const auto charts = sweep_charts(cases_of(report));
    REQUIRE(charts.size() == 1);
    const Chart& chart = charts[0];
    CHECK(chart.title == "Latency by size");
    const Parsed spec = spec_of(chart);
    for (const Parsed& value : spec["data"]["values"]) {
        CHECK(value["y"] == chart_number(summary.min).number());
        CHECK(value["value"] == value_text(summary.min, model::Unit::seconds));
    }
    CHECK(spec["layer"][2]["encoding"]["tooltip"][2]["title"] == "latency, least sample");
    CHECK(chart.about.starts_with("The least samples"));
    CHECK(chart.spoken.find(value_text(summary.min, model::Unit::seconds)) != std::string::npos);
    CHECK(chart.data[0].columns[2].title == "least sample");
    CHECK(chart.data[0].rows[0][2].text == value_text(summary.min, model::Unit::seconds));
}

TEST_CASE("chart units leave one to four digits before the point", "[unit]")
{
    CHECK(chart_unit(model::Unit::bytes, 800e6).name == "MiB");
    CHECK(chart_unit(model::Unit::seconds, 0.38).name == "ms");
    CHECK(chart_unit(model::Unit::bytes, 0).name == "B");
    CHECK(chart_number(1.0 / 3).number() == 0.333333);
    CHECK(chart_number(1.0 / 0.0).is_null());
}

TEST_CASE("an axis of bytes has its marks at whole units", "[unit]")
{
    const auto marks = [](double largest) {
        return Parsed::parse(compact(axis_from_zero(model::Unit::bytes, largest)))["values"].get<std::vector<double>>();
    };
    CHECK(marks(36.5 * 0x1p20) == std::vector<double>{0, 10 * 0x1p20, 20 * 0x1p20, 30 * 0x1p20});
    CHECK(marks(1.2 * 0x1p30) == std::vector<double>{0, 256 * 0x1p20, 512 * 0x1p20, 768 * 0x1p20, 0x1p30});
    for (double largest = 6; largest < 0x1p50; largest *= 1.37) {
        const std::vector<double> all = marks(largest);
        INFO(largest);
        CHECK(all.size() >= 2);
        CHECK(all.size() <= 7);
        CHECK(all.back() <= largest);
    }
    for (const double no_size : {0.0, 0x1p62}) {
        CHECK(Parsed::parse(compact(axis_from_zero(model::Unit::bytes, no_size)))["tickCount"] == 6);
    }
    CHECK(Parsed::parse(compact(axis_from_zero(model::Unit::seconds, 3)))["tickCount"] == 6);
}

TEST_CASE("a logarithmic axis marks powers of ten, and with room for them their doubles and fives", "[unit]")
{
    using Marks = std::vector<double>;
    const auto marks = [](model::Unit unit, double least, double largest) {
        return Parsed::parse(compact(log_axis(unit, least, largest).axis))["values"].get<Marks>();
    };
    CHECK(marks(model::Unit::seconds, 200e-9, 7e-3) == Marks{1e-6, 1e-5, 1e-4, 1e-3});
    CHECK(marks(model::Unit::seconds, 4e-6, 60e-6) == Marks{5e-6, 1e-5, 2e-5, 5e-5});
    CHECK(marks(model::Unit::one, 40, 200) == Marks{50, 100, 200});
    CHECK(marks(model::Unit::bytes, 4096, 4e6) == Marks{4096, 16384, 65536, 262144, 1048576});
    for (double factor = 1.01; factor < 1e14; factor *= 1.6) {
        const Marks all = marks(model::Unit::seconds, 3e-9, 3e-9 * factor);
        INFO(factor);
        CHECK((all.size() >= 2 && all.size() <= 8));
    }
    for (const auto& [least, largest] : {std::pair{3.11e-9, 3.27e-9}, {7.23e-9, 7.23e-9}, {1.0, 1.4}, {5.0, 80.0}}) {
        const LogAxis close = log_axis(model::Unit::one, least, largest);
        const Marks ends = Parsed::parse(compact(close.domain)).get<Marks>();
        const Marks drawn = Parsed::parse(compact(close.axis))["values"].get<Marks>();
        INFO(least << " to " << largest);
        CHECK((ends[0] < least && largest < ends[1]));
        CHECK((drawn.size() >= 2 && drawn.front() >= ends[0] && drawn.back() <= ends[1]));
    }
    CHECK(log_axis(model::Unit::one, 0, 1).domain.is_null());
    CHECK(log_axis(model::Unit::one, 1, 1.4e308).domain.is_null());
    CHECK(marks(model::Unit::bytes, 1e-100, 1e100).size() <= 9);
}

TEST_CASE("many cases on two or three axes are a map, others are no picture", "[unit]")
{
    const auto report_of = [](std::size_t sizes, const std::vector<std::string>& modes,
                              const std::vector<std::string>& places) {
        model::RunReport report;
        for (const std::string& place : places) {
            for (std::size_t size = 1; size <= sizes; ++size) {
                for (const std::string& mode : modes) {
                    model::CaseReport one = sample_report().cases[0];
                    one.params = {{"size", static_cast<std::int64_t>(size)}, {"mode", mode}, {"place", place}};
                    one.id = fmt::format("map/size={}/mode={}/place={}", size, mode, place);
                    report.cases.push_back(one);
                }
            }
        }
        return report;
    };
    const model::RunReport three = report_of(20, {"a", "b"}, {"here", "there"});
    const auto maps = answer_charts(cases_of(three), {});
    REQUIRE(maps.size() == 1);
    REQUIRE(maps[0].charts.size() == 2);
    const Parsed spec = spec_of(maps[0].charts[0]);
    CHECK(spec["data"]["values"].size() == 80);
    CHECK(spec["encoding"]["x"]["scale"]["domain"] == Parsed({"a, here", "a, there", "b, here", "b, there"}));
    CHECK(maps[0].charts[0].title.ends_with(" by size and mode, place"));

    CHECK(answer_charts(cases_of(report_of(70, {"a"}, {"here", "there"})), {}).empty());
    model::RunReport twice = three;
    twice.cases.push_back(twice.cases.front());
    CHECK(answer_charts(cases_of(twice), {}).empty());
    const model::RunReport few = report_of(10, {"a", "b"}, {"here"});
    REQUIRE(answer_charts(cases_of(few), {}).size() == 1);
    CHECK(spec_of(answer_charts(cases_of(few), {})[0].charts[0])["layer"].size() == 3);
}

TEST_CASE("vega writes every chart once, and parameters of no two have the same name", "[unit]")
{
    const Parsed spec = Parsed::parse(to_vega(sample_report()));
    CHECK(spec["$schema"].get<std::string>().ends_with("/vega-lite/v6.json"));
    REQUIRE(spec["vconcat"].size() == 2);
    CHECK(spec["vconcat"][0]["title"] == "Working set over time: finalizer_repro");
    CHECK(spec["vconcat"][0]["spec"]["layer"][3]["params"][0]["name"] == "zoom_0");
    CHECK(spec["vconcat"][0]["spec"]["layer"][4]["encoding"]["opacity"]["condition"]["param"] == "pointed_0");
    CHECK(Parsed::parse(to_vega({}))["vconcat"].empty());
    CHECK(Parsed::accept(to_vega(hostile_report())));
}

}  // namespace memsweep::reporters
