#include "core/transfer/probe.hpp"

#include <algorithm>
#include <set>

#include "core/device/open.hpp"
#include "core/transfer/bandwidth_probe.hpp"
#include "core/transfer/device_probe.hpp"
#include "core/transfer/fault_probe.hpp"
#include "core/transfer/latency_probe.hpp"
#include "core/transfer/numa_probe.hpp"
#include "core/transfer/topology_probe.hpp"
#include "core/transfer/working_set.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;

namespace {

constexpr std::uint64_t mib = 1U << 20;
const sys::SystemClock clock_here;

transfer::ProbeContext small_context()
{
    return {.clock = clock_here,
            .settings = {.array_bytes = mib, .sample_seconds = 0.0005, .samples = 2, .memory_budget_bytes = 64 * mib},
            .nodes = sys::numa_nodes(),
            .topology = sys::cpu_topology(),
            .tell = [](const std::string&) {},
            .stopped = [] { return false; }};
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
    using transfer::effective_cache_bytes;
    CHECK(effective_cache_bytes({{1 * mib, 6e-9}, {16 * mib, 80e-9}, {64 * mib, 150e-9}, {128 * mib, 180e-9}}) ==
          16 * mib);
    CHECK_FALSE(effective_cache_bytes({}));
    CHECK_FALSE(effective_cache_bytes({{1 * mib, 5e-9}, {2 * mib, 5e-9}}));
}

TEST_CASE("arrays lie beyond the caches, and within the budget", "[unit]")
{
    using transfer::memory_array_bytes;
    CHECK(memory_array_bytes(16 * mib, 480 * mib, 8192 * mib) == 320 * mib);
    CHECK(memory_array_bytes(256 * mib, 480 * mib, 8192 * mib) == 1024 * mib);
    CHECK(memory_array_bytes(std::nullopt, 0, 8192 * mib) == 256 * mib);
    CHECK(memory_array_bytes(16 * mib, 480 * mib, 300 * mib) == 100 * mib);
    CHECK(memory_array_bytes(16 * mib, 480 * mib, 0) == 0);
}

TEST_CASE("placement is told as the kernel told it", "[unit]")
{
    sys::PagesByNode pages;
    pages.pages = {{0, 10}, {1, 2}};
    CHECK(transfer::placement_proof(pages, std::nullopt).text == "10 pages on node 0, 2 pages on node 1 (move_pages)");
    CHECK_FALSE(transfer::placement_proof(pages, std::nullopt).wrong);
    CHECK(transfer::placement_proof(pages, 0).wrong);
    pages.not_resident = 3;
    CHECK(transfer::placement_proof(pages, 0).text == "not proven: 3 pages are not resident");
}

TEST_CASE("a ceiling is the best of a kind with as many threads", "[unit]")
{
    std::vector<model::CaseReport> cases;
    const auto add = [&](const char* kernel, std::int64_t threads, double rate) {
        cases.push_back(transfer::new_case(
            "probe_bandwidth",
            {{"kernel", std::string{kernel}}, {"store", std::string{"plain"}}, {"threads", threads}}));
        transfer::set_values(cases.back(), "bandwidth", {rate});
    };
    add("copy", 1, 10);
    add("memcpy", 1, 20);
    add("copy", 2, 30);
    add("read", 1, 7);
    transfer::set_ceiling_shares(cases);
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
    const transfer::ProbeContext context = small_context();
    std::vector<model::CaseReport> cases = transfer::probe_topology(context);
    const auto add = [&](std::vector<model::CaseReport> more) { std::ranges::move(more, std::back_inserter(cases)); };
    add(transfer::probe_bandwidth(context, mib));
    add(transfer::probe_latency(context));
    add(transfer::probe_numa(context, std::nullopt));
    add(transfer::probe_faults(context));
    add(transfer::probe_devices(context, *device::no_runtime("none")));
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
    transfer::ProbeContext context = small_context();
    context.settings.memory_budget_bytes = 0;
    for (const model::CaseReport& report : transfer::probe_bandwidth(context, std::nullopt)) {
        CHECK(report.status == model::Status::skipped);
        CHECK_THAT(report.reason, Catch::Contains("--size"));
    }
    transfer::ProbeContext idle = small_context();
    for (sys::NumaNode& node : idle.nodes) {
        node.cpus.clear();
    }
    CHECK_FALSE(transfer::probe_latency(idle).empty());
    for (const auto& report : transfer::probe_latency(idle)) {
        CHECK(report.status == model::Status::skipped);
    }
    CHECK(transfer::probe_numa(idle, std::nullopt).empty());
}

TEST_CASE("an interrupted probe keeps what it has and says that the rest was not measured", "[machine]")
{
    transfer::ProbeContext context = small_context();
    context.stopped = [] { return true; };
    for (const model::CaseReport& report : transfer::probe_bandwidth(context, mib)) {
        CHECK(report.status == model::Status::skipped);
        CHECK_THAT(report.reason, Catch::Contains("interrupted"));
    }
}
