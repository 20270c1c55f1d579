#include "reporters/wording/site_words.hpp"

#include <string>

#include "reporters/formats.hpp"
#include "reporters/json/result_json.hpp"
#include "reporters/text/text_sink.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

model::SiteChange site(const std::string& name, double change, std::optional<double> share)
{
    return {.site = name, .through = {}, .callers = {"main (app.c:9)"}, .change = change, .share = share};
}

model::MetricSites peak(std::vector<model::SiteChange> sites, double change)
{
    return {.metric = "live_bytes_peak",
            .unit = model::Unit::bytes,
            .base = 1000,
            .candidate = 1000 + change,
            .change = change,
            .sites = std::move(sites)};
}

constexpr double mib = 1 << 20;

}  // namespace

TEST_CASE("sites: one that makes all of a change", "[unit]")
{
    CHECK(sites_text(peak({site("parse_row (table.cpp:210)", 12 * mib, 1)}, 12 * mib)) ==
          "live_bytes_peak +12.0 MiB: all of it from parse_row (table.cpp:210)");
    CHECK(shares_text(peak({site("a", 1002, 1.002), site("b", -2, -0.002)}, 1000)) == "all of it from a");
    model::SiteChange one = site("load (a.c:3)", -12 * mib, 1);
    one.in = model::SiteIn::base;
    one.through = {"xmalloc (m.c:4)"};
    CHECK(sites_text(peak({one}, -12 * mib)) ==
          "live_bytes_peak -12.0 MiB: all of it from load (a.c:3) through xmalloc (m.c:4), which is gone");
}

TEST_CASE("sites: a change that is spread", "[unit]")
{
    model::MetricSites metric =
        peak({site("a", 62, 0.62), site("b", 20, 0.2), site("c", 10, 0.1), site("d", 5, 0.05)}, 100);
    metric.more_sites = 3;
    metric.more_change = 3;
    CHECK(shares_text(metric) == "62 % of it from a, 20 % from b, 10 % from c and the rest from 4 more sites");
    CHECK(shares_text(peak({site("a", 60, 0.6)}, 100)) == "60 % of it from a and the rest from no single site");
}

TEST_CASE("sites: some that make up for others", "[unit]")
{
    CHECK(sites_text(peak({site("a", 3 * mib, 3), site("b", -2 * mib, -2)}, mib)) ==
          "live_bytes_peak +1.00 MiB: +3.00 MiB from a and -2.00 MiB from b");
    CHECK(sites_text(peak({site("a", 64, {}), site("b", -64, {})}, 0)) ==
          "live_bytes_peak the same in sum: +64 B from a and -64 B from b");
}

TEST_CASE("sites: a result keeps them, and every report of it shows them inert", "[unit]")
{
    model::RunReport report = sample_report();
    const std::string hostile = "make<Box<\"&'>>::of|`x` (a.cpp:3)";
    report.sites.push_back({.base_case = "a",
                            .candidate_case = "b",
                            .runs = 2,
                            .reason = {},
                            .notes = {"a note"},
                            .metrics = {peak({site(hostile, mib, 1)}, mib)}});
    report.sites.push_back({.base_case = "c", .candidate_case = "d", .runs = 0, .reason = "it is static"});
    const std::string text = to_json(report);
    const auto read = read_json(text, "sample");
    REQUIRE(read);
    CHECK(to_json(*read) == text);
    for (const char* name : {"html", "md", "junit"}) {
        const auto format = find_format<model::RunReport>(name);
        REQUIRE(format);
        const std::string written = whole_text([&](TextSink& sink) { format->write(report, sink); });
        CHECK(written.find(hostile) == std::string::npos);
        CHECK(written.find("all of it from make") != std::string::npos);
        CHECK(written.find("it is static") != std::string::npos);
    }
}

}  // namespace memsweep::reporters
