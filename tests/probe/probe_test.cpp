#include <algorithm>
#include <set>

#include "core/device/open.hpp"
#include "core/probe/probe.hpp"
#include "core/probe/probe_case.hpp"
#include "tests/probe/probe_context.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;

namespace {

using tests::mib;

probe::ProbeContext small_context()
{
    return tests::context_of(
        {.array_bytes = mib, .sample_seconds = 0.0005, .samples = 2, .memory_budget_bytes = 64 * mib});
}

bool is_whole(const model::CaseReport& report)
{
    const bool counted = std::ranges::all_of(report.metrics, [&](const model::Metric& metric) {
        return metric.values.size() == report.repetitions && metric.summary;
    });
    return counted && (report.status == model::Status::ok) == report.reason.empty();
}

}  // namespace

TEST_CASE("the cache in effect is where latency has half its height", "[unit]")
{
    using probe::effective_cache_bytes;
    CHECK(effective_cache_bytes({{1 * mib, 6e-9}, {16 * mib, 80e-9}, {64 * mib, 150e-9}, {128 * mib, 180e-9}}) ==
          16 * mib);
    CHECK_FALSE(effective_cache_bytes({}));
    CHECK_FALSE(effective_cache_bytes({{1 * mib, 5e-9}, {2 * mib, 5e-9}}));
}

TEST_CASE("arrays lie beyond the caches, and within the budget", "[unit]")
{
    using probe::memory_array_bytes;
    CHECK(memory_array_bytes(16 * mib, 480 * mib, 8192 * mib) == 320 * mib);
    CHECK(memory_array_bytes(256 * mib, 480 * mib, 8192 * mib) == 1024 * mib);
    CHECK(memory_array_bytes(std::nullopt, 0, 8192 * mib) == 256 * mib);
    CHECK(memory_array_bytes(16 * mib, 480 * mib, 300 * mib) == 100 * mib);
    CHECK(memory_array_bytes(16 * mib, 480 * mib, 0) == 0);
}

TEST_CASE("a ceiling is the best of a kind with as many threads", "[unit]")
{
    std::vector<model::CaseReport> cases;
    const auto add = [&](const char* kernel, std::int64_t threads, double rate) {
        cases.push_back(
            probe::new_case("probe_bandwidth",
                            {{"kernel", std::string{kernel}}, {"store", std::string{"plain"}}, {"threads", threads}}));
        probe::set_values(cases.back(), "bandwidth", {rate});
    };
    add("copy", 1, 10);
    add("memcpy", 1, 20);
    add("copy", 2, 30);
    add("read", 1, 7);
    probe::set_ceiling_shares(cases);
    const auto share = [&](std::size_t index) {
        return *model::find_metric(cases[index], "ceiling_share")->values.front();
    };
    CHECK(share(0) == 0.5);
    CHECK(share(1) == 1);
    CHECK(share(2) == 1);
    CHECK(share(3) == 1);
}

TEST_CASE("every probe's cases are whole: values for each sample, a reason for what is not ok", "[machine]")
{
    const probe::ProbeContext context = small_context();
    std::vector<model::CaseReport> cases = probe::probe_topology(context);
    const auto add = [&](std::vector<model::CaseReport> more) { std::ranges::move(more, std::back_inserter(cases)); };
    add(probe::probe_bandwidth(context, mib));
    add(probe::probe_latency(context));
    add(probe::probe_numa(context, std::nullopt));
    add(probe::probe_faults(context));
    add(probe::probe_devices(context, *device::no_runtime("none")));
    std::set<std::string> ids;
    for (const model::CaseReport& report : cases) {
        INFO(report.id << ": " << report.reason);
        CHECK(ids.insert(report.id).second);
        CHECK(is_whole(report));
        CHECK(report.status != model::Status::failed);
        CHECK(report.status != model::Status::error);
    }
}

TEST_CASE("without memory or processors everything is skipped with a reason", "[machine]")
{
    probe::ProbeContext context = small_context();
    context.settings.memory_budget_bytes = 0;
    for (const model::CaseReport& report : probe::probe_bandwidth(context, std::nullopt)) {
        CHECK(report.status == model::Status::skipped);
        CHECK_THAT(report.reason, Catch::Contains("--size"));
    }
    probe::ProbeContext idle = small_context();
    for (sys::NumaNode& node : idle.nodes) {
        node.cpus.clear();
    }
    CHECK_FALSE(probe::probe_latency(idle).empty());
    for (const auto& report : probe::probe_latency(idle)) {
        CHECK(report.status == model::Status::skipped);
    }
    CHECK(probe::probe_numa(idle, std::nullopt).empty());
}

TEST_CASE("an interrupted probe keeps what it has and says that the rest was not measured", "[machine]")
{
    probe::ProbeContext context = small_context();
    context.stopped = [] { return true; };
    for (const model::CaseReport& report : probe::probe_bandwidth(context, mib)) {
        CHECK(report.status == model::Status::skipped);
        CHECK_THAT(report.reason, Catch::Contains("interrupted"));
    }
}
