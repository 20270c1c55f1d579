#include "core/measure/findings.hpp"

#include "tests/measure/samples.hpp"
#include "tests/measure/words.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using model::CaseReport;

namespace {

CaseReport probe_case(const char* scenario, std::vector<model::Param> params, const char* name,
                      const std::vector<double>& values)
{
    CaseReport report;
    report.scenario = scenario;
    report.params = std::move(params);
    report.id = model::case_id(report.scenario, report.params);
    report.metrics = {metric(name, values)};
    return report;
}

CaseReport rate(const char* kernel, const char* store, std::int64_t threads, double gigabytes)
{
    return probe_case("probe_bandwidth",
                      {{"kernel", std::string{kernel}}, {"store", std::string{store}}, {"threads", threads}},
                      "bandwidth", std::vector<double>(7, gigabytes * 1e9));
}

CaseReport load(const char* pages, std::int64_t bytes, double nanoseconds)
{
    return probe_case("probe_latency", {{"pages", std::string{pages}}, {"size", bytes}}, "latency",
                      {nanoseconds * 1e-9});
}

}  // namespace

TEST_CASE("a probe's bandwidth is reported by threads, the best of all stores", "[unit]")
{
    const std::vector cases{rate("read", "none", 1, 12),  rate("copy", "plain", 1, 10), rate("copy", "nt", 1, 15),
                            rate("triad", "plain", 1, 9), rate("read", "none", 2, 20),  rate("scale", "nt", 2, 99)};
    CHECK(sentences(probe_findings(cases)) ==
          std::vector<std::string>{
              "bandwidth, bytes read and written: one thread: 12.0 GB/s read, 15.0 GB/s copied, 9.00 GB/s in a triad; "
              "2 threads: 20.0 GB/s read",
              "non-temporal stores copy at this multiple of plain ones: 1.50x [1.50, 1.50] by one thread"});
}

TEST_CASE("zeroes that are written at another rate than data are a finding from a tenth on", "[unit]")
{
    const auto zeroes = [](const char* store, std::int64_t threads, double gigabytes) {
        return probe_case("probe_bandwidth",
                          {{"kernel", std::string{"write"}},
                           {"store", std::string{store}},
                           {"threads", threads},
                           {"variant", std::string{"zeroes"}}},
                          "bandwidth", std::vector<double>(7, gigabytes * 1e9));
    };
    // Of an EPYC 9005: non-temporal stores by one thread.
    const std::vector cases{
        rate("write", "plain", 1, 30), zeroes("plain", 1, 32.9), rate("write", "nt", 1, 44),     zeroes("nt", 1, 96),
        rate("write", "nt", 2, 60),    zeroes("nt", 2, 48),      rate("memset", "opaque", 1, 20)};
    CHECK(
        sentences(probe_findings(cases)) ==
        std::vector<std::string>{"zeroes are written at this multiple of other data's rate, so a benchmark that writes "
                                 "zeroes measures another machine: 2.2x [2.2, 2.2] by one thread (nt), "
                                 "0.80x [0.80, 0.80] by 2 threads (nt)"});
    const std::vector alike{rate("write", "nt", 1, 44), zeroes("nt", 1, 41)};
    CHECK(probe_findings(alike).empty());
    const std::vector alone{zeroes("nt", 1, 41), rate("write", "plain", 1, 90)};
    CHECK(probe_findings(alone).empty());
}

TEST_CASE("a probe's latency is reported by the levels at which it climbs", "[unit]")
{
    // The climb from 64 to 256 KiB takes two steps and is one.
    const std::vector cases{load("4k", 512 << 10, 12), load("4k", 32 << 10, 1),   load("4k", 64 << 10, 1.1),
                            load("4k", 128 << 10, 4),  load("4k", 256 << 10, 11), load("4k", 1 << 20, 100),
                            load("thp", 1 << 20, 90)};
    CHECK(
        sentences(probe_findings(cases)) ==
        std::vector<std::string>{"a load on 4k pages takes 1.10 ns up to 64KiB, 12.0 ns up to 512KiB, 100.0 ns at 1MiB "
                                 "(least of the samples)",
                                 "a load on thp pages takes 90.0 ns at 1MiB (least of the samples)"});
}

TEST_CASE("a probe's parallel and loaded loads and its faults are reported beside what they are set against", "[unit]")
{
    const std::vector cases{
        probe_case("probe_parallel_loads", {{"chains", std::int64_t{1}}}, "bandwidth", {1e9}),
        probe_case("probe_parallel_loads", {{"chains", std::int64_t{8}}}, "bandwidth", {7e9}),
        probe_case("probe_parallel_loads", {{"chains", std::int64_t{16}}}, "bandwidth", {6e9}),
        probe_case("probe_loaded_latency", {{"load", std::int64_t{0}}}, "latency", {100e-9}),
        probe_case("probe_loaded_latency", {{"load", std::int64_t{100}}}, "latency", {150e-9}),
        probe_case("probe_faults", {{"kind", std::string{"first_touch"}}, {"pages", std::string{"4k"}}},
                   "time_per_fault", {250e-9}),
        probe_case("probe_faults", {{"kind", std::string{"shared_first_touch"}}, {"pages", std::string{"4k"}}},
                   "time_per_fault", {500e-9})};
    CHECK(sentences(probe_findings(cases)) ==
          std::vector<std::string>{
              "8 chains of loads at once bring 7.0 times what one brings: 7.00 GB/s",
              "a load takes 1.50x the time while the other processors stream: 150.0 ns against 100.0 ns (least of the "
              "samples)",
              "a page fault costs: 250.0 ns first touch, 4k pages; 500.0 ns shared first touch, 4k pages"});
}

TEST_CASE("a probe's devices are reported one by one", "[unit]")
{
    const auto copy = [](const char* transfer, const char* device, double gigabytes) {
        return probe_case("probe_device", {{"device", std::string{device}}, {"transfer", std::string{transfer}}},
                          "bandwidth", {gigabytes * 1e9});
    };
    const std::vector cases{copy("host_to_device_memcpy_ce", "gpu1", 25), copy("device_local_copy", "gpu0", 900),
                            copy("host_to_device_memcpy_ce", "gpu0", 24), copy("device_to_host_memcpy_ce", "gpu0", 23),
                            copy("all_to_host_memcpy_ce", "gpu0", 99)};
    CHECK(sentences(probe_findings(cases)) ==
          std::vector<std::string>{"gpu0 copies 24.0 GB/s from pinned host memory, 23.0 GB/s to it, 900.0 GB/s within",
                                   "gpu1 copies 25.0 GB/s from pinned host memory"});
}

TEST_CASE("what staging is worth, and what a kernel's load takes, is said of each device that was asked", "[unit]")
{
    const auto of = [](const char* transfer, const char* metric, const std::vector<double>& values) {
        return probe_case("probe_device", {{"device", std::string{"gpu0"}}, {"transfer", std::string{transfer}}},
                          metric, values);
    };
    const std::vector cases{of("host_to_device_staged", "bandwidth", {34e9}),
                            of("host_to_device_pageable", "bandwidth", {9e9}),
                            of("device_to_host_staged", "bandwidth", {33e9}),
                            of("host_device_latency_sm", "latency", {1.3e-6, 1.2e-6, 1.25e-6}),
                            of("device_l2_latency_sm", "latency", {144e-9})};
    CHECK(sentences(probe_findings(cases)) ==
          std::vector<std::string>{"ordinary host memory and gpu0: 34.0 GB/s to it staged, 9.00 GB/s by its driver's "
                                   "own copy",
                                   "a load of a kernel on gpu0 takes (least of the samples): 1.20 us from host memory; "
                                   "144.0 ns from its last cache"});
}

TEST_CASE("what no probe measured makes no sentence", "[unit]")
{
    CaseReport skipped = rate("read", "none", 1, 12);
    skipped.status = model::Status::skipped;
    CHECK(probe_findings(std::vector{skipped}).empty());
    CHECK(probe_findings(std::vector{case_report({{"size", "8"}}, {metric("latency", {1e-9})})}).empty());
    CHECK(probe_findings({}).empty());
}

TEST_CASE("what a probe says of latencies on a busy machine is the least of the samples", "[unit]")
{
    const auto latency = [](std::int64_t bytes, const std::vector<double>& nanoseconds) {
        return probe_case("probe_latency", {{"pages", std::string{"4k"}}, {"size", bytes}}, "latency",
                          scaled(nanoseconds, 1e-9));
    };
    const auto chains = [](std::int64_t count, const std::vector<double>& gigabytes) {
        return probe_case("probe_parallel_loads", {{"chains", count}}, "bandwidth", scaled(gigabytes, 1e9));
    };
    const auto loaded = [](std::int64_t load, const std::vector<double>& nanoseconds) {
        return probe_case("probe_loaded_latency", {{"load", load}}, "latency", scaled(nanoseconds, 1e-9));
    };
    // Most samples of the small set, of the single chain and of the idle memory were disturbed; one of each was not.
    const std::vector cases{latency(4 << 20, {30, 900, 1000}), latency(64 << 20, {100, 101, 102}),
                            chains(1, {0.05, 0.06, 0.5}),      chains(16, {4, 4.1, 4.2}),
                            loaded(0, {100, 800, 900}),        loaded(100, {150, 160, 170})};
    CHECK(sentences(probe_findings(std::span{cases}.first(2))) ==
          std::vector<std::string>{
              "a load on 4k pages takes 30.0 ns up to 4MiB, 100.0 ns at 64MiB (least of the samples)"});
    const std::vector<std::string> rest = sentences(probe_findings(std::span{cases}.subspan(2)));
    REQUIRE(!rest.empty());
    CHECK(rest.back() ==
          "a load takes 1.50x the time while the other processors stream: 150.0 ns against 100.0 ns (least "
          "of the samples)");
    // No sample of the one chain was undisturbed: 23 times as much is not told as what memory does.
    const std::vector impossible{chains(1, {0.1, 0.1, 0.1}), chains(16, {2.3, 2.3, 2.3})};
    CHECK(probe_findings(impossible).empty());
    CHECK(implausible_findings(impossible).size() == 1);
    // Nor that memory answers sooner while others stream through it.
    const std::vector sooner{loaded(0, {154, 155, 156}), loaded(100, {83.9, 84, 85})};
    CHECK(probe_findings(sooner).empty());
    CHECK(
        sentences(implausible_findings(sooner)) ==
        std::vector<std::string>{
            "latency under load is not trustworthy here: a load takes 154.0 ns with idle memory and 83.9 ns while the "
            "other processors stream, but a load is never faster for that; something else ran beside the first"});
    const std::vector both{&sooner[0], &sooner[1]};
    REQUIRE(contradictions(both).size() == 1);
    CHECK(&doubted_case(contradictions(both)[0]) == &sooner[0]);
}

TEST_CASE("each case that no memory allows is named, against the fastest of the larger sets", "[unit]")
{
    std::vector<CaseReport> cases;
    std::vector<const CaseReport*> pointers;
    const auto add = [&](const char* scenario, std::vector<model::Param> params, const char* name, double value) {
        cases.push_back(probe_case(scenario, std::move(params), name, scaled(ten, value)));
    };
    const auto why_of = [&](std::size_t index) {
        pointers.clear();
        for (const CaseReport& one : cases) {
            pointers.push_back(&one);
        }
        for (const Contradiction& one : contradictions(pointers)) {
            if (&doubted_case(one) == pointers[index]) {
                return doubt_text(one);
            }
        }
        return std::string{};
    };
    for (const auto& [bytes, nanoseconds] : {std::pair{1 << 20, 1090.0},
                                             {2 << 20, 1085.0},
                                             {4 << 20, 117.0},
                                             {8 << 20, 90.0},
                                             {16 << 20, 119.0},
                                             {32 << 20, 105.0}}) {
        add("probe_latency", {{"pages", std::string{"thp"}}, {"size", std::int64_t{bytes}}}, "latency",
            nanoseconds * 1e-9);
    }
    for (const auto& [count, rate] : {std::pair{1, 1e9}, {8, 7.9e9}, {16, 23e9}}) {
        add("probe_parallel_loads", {{"chains", std::int64_t{count}}}, "bandwidth", rate);
    }
    CHECK(why_of(0) == "slower than at 8MiB");
    CHECK(why_of(1) == "slower than at 8MiB");
    CHECK(why_of(2) == "slower than at 8MiB");
    CHECK(why_of(3).empty());
    CHECK(why_of(4) == "slower than at 32MiB in the median");  // by more than a tenth, beyond the interval
    CHECK(why_of(5).empty());
    CHECK(why_of(7).empty());
    CHECK(why_of(8) == "23 times one chain");
}

TEST_CASE("what a probe measured that no memory does is not trusted, before anything else is said", "[unit]")
{
    const auto latency = [](std::int64_t bytes, const std::vector<double>& nanoseconds) {
        return probe_case("probe_latency", {{"pages", std::string{"4k"}}, {"size", bytes}}, "latency",
                          scaled(nanoseconds, 1e-9));
    };
    const auto chains = [](std::int64_t count, double rate) {
        return probe_case("probe_parallel_loads", {{"chains", count}}, "bandwidth", scaled(ten, rate));
    };
    CHECK(implausible_findings(std::vector{latency(4 << 20, scaled(ten, 100)), latency(64 << 20, ten)}).size() == 1);
    // Rising, flat within noise, and one slow repetition of ten.
    std::vector<double> once = ten;
    once.front() = 50;
    CHECK(implausible_findings(std::vector{latency(1 << 20, scaled(ten, 1.05)), latency(4 << 20, ten),
                                           latency(8 << 20, once), latency(64 << 20, scaled(ten, 90))})
              .empty());
    CHECK(implausible_findings(std::vector{chains(1, 1e9), chains(4, 3.9e9), chains(16, 12e9)}).empty());
    model::RunReport report;
    report.cases = {latency(4 << 20, scaled(ten, 1090)), latency(64 << 20, scaled(ten, 117)), chains(1, 1e9),
                    chains(16, 23e9)};
    const std::vector<Finding> found = findings(report);
    REQUIRE(found.size() >= 2);
    CHECK(found[0].importance == Importance::warning);
    CHECK(sentence(found[0]) ==
          "latency is not trustworthy here: a load on 4k pages takes 1.07 us at 4MiB and 114.7 ns at "
          "64MiB, but a larger working set is never faster; something else ran beside it");
    CHECK(
        sentence(found[1]) ==
        "parallel loads are not trustworthy here: 16 chains bring 23 times what one brings, but 16 chains cannot bring "
        "more than 16 times as much; something else ran beside the one");
}
