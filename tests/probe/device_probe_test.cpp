// The probe of devices on invented ones: what it measures, what it verifies, what it holds afterwards.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "core/device/open.hpp"
#include "core/probe/device_cases.hpp"
#include "core/probe/probe.hpp"
#include "core/sys/processors.hpp"
#include "tests/probe/probe_context.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_runtime.hpp"

using namespace memsweep;

namespace {

using tests::fact;
using tests::mib;

probe::ProbeContext device_context(std::uint32_t samples = 3)
{
    return tests::context_of(
        {.array_bytes = mib, .sample_seconds = 0.003, .samples = samples, .memory_budget_bytes = 64 * mib});
}

const model::CaseReport& find(const std::vector<model::CaseReport>& cases, std::string_view id)
{
    const auto found = std::ranges::find(cases, "probe_device/" + std::string{id}, &model::CaseReport::id);
    INFO(id);
    REQUIRE(found != cases.end());
    return *found;
}

void check_whole(const std::vector<model::CaseReport>& cases, const device::Runtime& runtime)
{
    std::set<std::string> ids;
    for (const model::CaseReport& report : cases) {
        INFO(report.id << ": " << report.reason);
        CHECK(ids.insert(report.id).second);
        CHECK((report.status == model::Status::ok) == report.reason.empty());
        CHECK((report.status == model::Status::ok || report.status == model::Status::skipped));
        for (const model::Metric& metric : report.metrics) {
            CHECK(metric.values.size() == report.repetitions);
        }
    }
    CHECK(runtime.holdings() == device::Holdings{});
}

}  // namespace

TEST_CASE("without a device every case is skipped with the reason", "[unit]")
{
    const auto runtime = device::no_runtime("no driver");
    const auto cases = probe::probe_devices(device_context(), *runtime);
    CHECK(cases.size() == probe::device_cases().size());
    for (const model::CaseReport& report : cases) {
        CHECK(report.status == model::Status::skipped);
        CHECK(report.reason == "no driver");
    }
    const auto facts = probe::probe_device_facts(*runtime);
    REQUIRE(facts.size() == 1);
    CHECK(facts.front().reason == "no driver");
}

TEST_CASE("two invented devices are measured every way, and every sample is verified", "[unit]")
{
    tests::FakeRuntime runtime{{.peers = true, .lacking = {device::MemoryKind::write_combined}}};
    const auto cases = probe::probe_devices(device_context(), runtime);
    check_whole(cases, runtime);
    const auto& sent = find(cases, "device=gpu1/transfer=host_to_device_memcpy_ce");
    CHECK(sent.repetitions == 3);
    CHECK(fact(sent, "verified") == "3 of 3 samples, every word");
    CHECK(fact(sent, "copies_per_sample") == "3");
    const double rate = *model::find_metric(sent, "bandwidth")->values.front();
    CHECK(rate == Approx(static_cast<double>(mib) / (1e-6 + static_cast<double>(mib) / 1e9)).epsilon(1e-3));
    CHECK(find(cases, "device=gpu0/to=gpu1/transfer=device_to_device_memcpy_read_ce").status == model::Status::ok);
    CHECK(fact(find(cases, "device=gpu1/to=gpu0/transfer=device_to_device_memcpy_write_ce"), "peer_access") == "yes");
    CHECK(find(cases, "device=gpu0/to=gpu1/transfer=device_to_device_memcpy_read_sm").status == model::Status::ok);
    for (const char* const loads :
         {"device=gpu0/transfer=host_device_latency_sm", "device=gpu1/transfer=device_local_latency_sm",
          "device=gpu1/to=gpu0/transfer=device_to_device_latency_sm"}) {
        const auto& chased = find(cases, loads);
        REQUIRE(chased.status == model::Status::ok);
        CHECK(*model::find_metric(chased, "latency")->values.front() == Approx(1e-6));
        CHECK(fact(chased, "verified") == "3 of 3 samples, by where the chain ended");
        CHECK_THAT(fact(chased, "caches"), Catch::Contains("may answer") || Catch::Equals("absent"));
    }
    for (const char* const moved : {"host_to_device_staged", "device_to_host_staged", "host_to_device_managed_prefetch",
                                    "device_to_host_managed_prefetch"}) {
        const auto& report = find(cases, std::string{"device=gpu0/transfer="} + moved);
        REQUIRE(report.status == model::Status::ok);
        CHECK(fact(report, "verified") == "3 of 3 samples, every word");
        CHECK(model::find_metric(report, "bandwidth")->values.size() == 3);
    }
    CHECK(find(cases, "device=gpu0/transfer=host_to_device_write_combined").reason ==
          "no write_combined memory was invented");
    CHECK(fact(find(cases, "device=gpu0/transfer=host_to_device_pageable"), "timed_by") == "the processor's clock");
    CHECK(fact(find(cases, "device=gpu0/transfer=host_to_device_bidirectional_memcpy_ce"), "other_direction") !=
          "absent");
    for (const char* const of_all :
         {"all_to_host_memcpy_ce", "all_to_all_write_ce", "ring_write_ce", "bisection_write_ce"}) {
        CHECK(find(cases, std::string{"transfer="} + of_all).status == model::Status::ok);
    }
    for (const char* const call : {"kernel_launch_latency", "event_latency", "stream_wait_latency",
                                   "host_device_round_trip_4B_ce", "host_device_round_trip_64KiB_ce"}) {
        const auto& waited = find(cases, std::string{"device=gpu1/transfer="} + call);
        REQUIRE(waited.status == model::Status::ok);
        CHECK(*model::find_metric(waited, "latency")->values.front() > 0);
    }
    CHECK(fact(find(cases, "device=gpu0/transfer=host_device_round_trip_4B_ce"), "verified") ==
          "3 of 3 samples, every byte");
    CHECK(probe::device_lines(runtime).size() == 2);
    CHECK(probe::probe_device_facts(runtime).size() == 2);
}

TEST_CASE("what arrives wrong fails its case and no other", "[unit]")
{
    tests::FakeRuntime runtime;
    probe::ProbeContext context = device_context();
    context.wants = [](const std::string& id) {
        return id == "probe_device/device=gpu0/transfer=host_to_device_memcpy_ce" ||
               id == "probe_device/device=gpu0/transfer=device_to_host_memcpy_ce";
    };
    // Four to warm up, one to see how long it takes, three of the first sample; each after four behind its latch.
    runtime.corrupt_copies(20, 1);
    const auto cases = probe::probe_devices(context, runtime);
    REQUIRE(cases.size() == 2);
    CHECK(cases[0].status == model::Status::failed);
    CHECK(cases[0].reason == "wrong data in sample 1: 1 of 131072 words differ, the first at byte 524288");
    CHECK(cases[1].status == model::Status::ok);
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("who sends to whom at once", "[unit]")
{
    using probe::CaseKind;
    using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    const auto pairs = [](CaseKind kind, const std::vector<std::uint32_t>& devices) {
        Pairs found;
        const probe::DeviceCase what{.kind = kind};
        for (const probe::CopySpec& queue : probe::copies_of(what, {devices.front(), {}}, devices, mib)) {
            CHECK(queue.stream_device == queue.from.device);
            found.emplace_back(queue.from.device, queue.to.device);
        }
        return found;
    };
    CHECK(pairs(CaseKind::ring, {0, 2, 5}) == Pairs{{0, 2}, {2, 5}, {5, 0}});
    CHECK(pairs(CaseKind::bisection, {0, 1, 2, 3}) == Pairs{{0, 2}, {2, 0}, {1, 3}, {3, 1}});
    CHECK(pairs(CaseKind::bisection, {0, 1, 2}) == Pairs{{0, 1}, {1, 0}});
    CHECK(pairs(CaseKind::all_to_all, {0, 1, 4}) == Pairs{{0, 1}, {0, 4}, {1, 0}, {1, 4}, {4, 0}, {4, 1}});
}

TEST_CASE("every test of nvbandwidth on one node has a case of its name", "[unit]")
{
    std::set<std::string> names;
    for (const probe::DeviceCase& what : probe::device_cases()) {
        CHECK(names.emplace(what.name).second);
    }
    for (const std::string mover : {"ce", "sm"}) {
        for (const char* const copies :
             {"host_to_device_memcpy_", "device_to_host_memcpy_", "host_to_device_bidirectional_memcpy_",
              "device_to_host_bidirectional_memcpy_", "device_to_device_memcpy_read_", "device_to_device_memcpy_write_",
              "device_to_device_bidirectional_memcpy_read_", "device_to_device_bidirectional_memcpy_write_",
              "all_to_host_memcpy_", "all_to_host_bidirectional_memcpy_", "host_to_all_memcpy_",
              "host_to_all_bidirectional_memcpy_", "all_to_one_write_", "all_to_one_read_", "one_to_all_write_",
              "one_to_all_read_"}) {
            INFO(copies << mover);
            CHECK(names.contains(copies + mover));
        }
    }
    for (const char* const other : {"host_device_latency_sm", "device_to_device_latency_sm", "device_local_copy"}) {
        CHECK(names.contains(other));
    }
}

TEST_CASE("of both directions at once one is counted, and kernels of one device share it", "[unit]")
{
    tests::FakeRuntime runtime{{.devices = 3, .peers = true}};
    probe::ProbeContext context = device_context();
    context.wants = [](const std::string& id) {
        return id.ends_with("=all_to_host_bidirectional_memcpy_ce") || id.ends_with("=one_to_all_write_sm") ||
               id.ends_with("=one_to_all_read_sm");
    };
    const auto cases = probe::probe_devices(context, runtime);
    REQUIRE(cases.size() == 3);
    check_whole(cases, runtime);
    for (const model::CaseReport& report : cases) {
        CHECK(report.status == model::Status::ok);
    }
    CHECK(runtime.most_shared() == 2);  // one to two others
    const auto queues = [](probe::DeviceCase what) { return probe::copies_of(what, {0, {}}, {0, 1, 2}, mib); };
    const auto both = queues({.kind = probe::CaseKind::all_to_host, .both_directions = true});
    REQUIRE(both.size() == 6);
    CHECK(both[1].from.kind == device::MemoryKind::device);
    CHECK(both[4].from.kind == device::MemoryKind::pinned);
    CHECK(both[4].stream_device == 1);
    for (const auto& copy : queues({.kind = probe::CaseKind::one_to_all, .reads = true})) {
        CHECK(copy.stream_device == copy.to.device);
    }
    tests::FakeRuntime apart{{.devices = 2}};
    for (const model::CaseReport& report : probe::probe_devices(context, apart)) {
        CHECK((report.status == model::Status::ok) == report.id.ends_with("_ce"));
    }
}

TEST_CASE("of many pairs as many as were asked for, each device as often", "[unit]")
{
    const probe::DeviceCase what{.kind = probe::CaseKind::peer};
    const std::vector<std::uint32_t> devices{0, 1, 2, 3, 4, 5, 6, 7};
    for (const std::uint32_t most : {8U, 24U, 56U, 1000U}) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
        std::map<std::uint32_t, std::uint32_t> sends;
        std::map<std::uint32_t, std::uint32_t> receives;
        for (const probe::Ends& ends : probe::ends_of(what, devices, most)) {
            CHECK(ends.first != *ends.second);
            CHECK(pairs.emplace(ends.first, *ends.second).second);
            ++sends[ends.first];
            ++receives[*ends.second];
        }
        CHECK(pairs.size() == std::min(most, 56U));
        for (const std::uint32_t device : devices) {
            CHECK(sends[device] == std::min(most, 56U) / 8);
            CHECK(receives[device] == std::min(most, 56U) / 8);
        }
    }
    CHECK(probe::ends_of(what, devices, 3).size() == 3);
    CHECK(probe::ends_of(what, devices).size() == 56);
}

TEST_CASE("a copy there and back that brings something else fails its case", "[unit]")
{
    tests::FakeRuntime runtime;
    probe::ProbeContext context = device_context();
    context.wants = [](const std::string& id) {
        return id == "probe_device/device=gpu0/transfer=host_device_round_trip_4KiB_ce";
    };
    context.settings.sample_seconds = 0;  // one call a sample
    runtime.corrupt_copies(66, 1);        // 64 to warm up; then the way back
    const auto cases = probe::probe_devices(context, runtime);
    REQUIRE(cases.size() == 1);
    CHECK(cases[0].status == model::Status::failed);
    CHECK(cases[0].reason == "wrong data in sample 1: what came back is not what was sent");
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("a chain that ends elsewhere fails its case", "[unit]")
{
    tests::FakeRuntime runtime;
    runtime.corrupt_chains();
    probe::ProbeContext context = device_context();
    context.wants = [](const std::string& id) {
        return id == "probe_device/device=gpu1/transfer=host_device_latency_sm";
    };
    const auto cases = probe::probe_devices(context, runtime);
    REQUIRE(cases.size() == 1);
    CHECK(cases[0].status != model::Status::ok);
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("two devices whose data are wrong are not trusted with each other's memory any more", "[unit]")
{
    tests::FakeRuntime runtime{{.peers = true}};
    probe::ProbeContext context = device_context();
    context.wants = [](const std::string& id) {
        return id == "probe_device/device=gpu0/to=gpu1/transfer=device_to_device_memcpy_read_ce";
    };
    runtime.corrupt_copies(20, 1);
    const auto cases = probe::probe_devices(context, runtime);
    REQUIRE(cases.size() == 1);
    CHECK(cases[0].status == model::Status::failed);
    CHECK_THAT(cases[0].reason, Catch::Contains("peer access of these two is off"));
    CHECK_FALSE(runtime.peer(0, 1).direct);
    CHECK_FALSE(runtime.peer(1, 0).direct);
}

TEST_CASE("devices are chosen, and the link is read while they copy", "[unit]")
{
    tests::FakeRuntime runtime{{.devices = 3, .link = true}};
    probe::ProbeContext context = device_context();
    context.devices = {0, 2};
    const auto cases = probe::probe_devices(context, runtime);
    check_whole(cases, runtime);
    for (const model::CaseReport& report : cases) {
        CHECK(report.id.find("gpu1") == std::string::npos);
    }
    CHECK(find(cases, "device=gpu2/to=gpu0/transfer=device_to_device_memcpy_write_ce").status == model::Status::ok);
    const auto& sent = find(cases, "device=gpu2/transfer=host_to_device_memcpy_ce");
    CHECK(fact(sent, "link") == "PCIe 5 x16 under load, PCIe 1 x16 at rest before; 5 x16 at most");
    CHECK(fact(sent, "ceiling") != "absent");
    CHECK(fact(sent, "clocks") == "1755 MHz, memory 2619 MHz under load; 345 MHz, memory 2619 MHz at rest before; "
                                  "1980 MHz, memory 2619 MHz at most");
    CHECK(fact(sent, "held_back_by") == "power_cap");
    CHECK(fact(find(cases, "device=gpu0/transfer=host_device_latency_sm"), "held_back_by") == "power_cap");
    CHECK_THAT(fact(find(cases, "device=gpu0/transfer=host_device_latency_sm"), "link"), Catch::Contains("under load"));
    CHECK_THAT(fact(find(cases, "device=gpu0/transfer=host_to_device_staged"), "link"),
               Catch::Contains("right after the last sample"));
}

TEST_CASE("a sample that the device's heat held back is taken again, and told", "[unit]")
{
    probe::ProbeContext context = device_context();
    context.wants = [](const std::string& id) {
        return id == "probe_device/device=gpu0/transfer=host_to_device_memcpy_ce";
    };
    for (const auto& [hot_looks, told] : {std::pair{2U, "absent"},  // both before the first sample
                                          {4U, "2 samples dropped and taken again (hot_hardware)"},
                                          {1000U, "throughout (hot_hardware)"}}) {
        tests::FakeRuntime runtime{{.hot_looks = hot_looks, .link = true}};
        const auto cases = probe::probe_devices(context, runtime);
        REQUIRE(cases.size() == 1);
        CHECK(cases[0].status == model::Status::ok);
        CHECK(model::find_metric(cases[0], "bandwidth")->values.size() == 3);
        CHECK(fact(cases[0], "throttled") == told);
    }
}

TEST_CASE("a call that fails ends its case as an error, and leaves nothing behind", "[unit]")
{
    for (std::uint64_t nth = 1; nth <= 14; ++nth) {
        tests::FakeRuntime runtime;
        probe::ProbeContext context = device_context();
        context.wants = [](const std::string& id) {
            return id == "probe_device/device=gpu0/transfer=host_to_device_memcpy_ce" ||
                   id == "probe_device/device=gpu0/transfer=host_to_device_bidirectional_memcpy_ce";
        };
        if (nth % 2 == 0) {
            runtime.fail_copies(nth);
        } else {
            runtime.fail_copies_late(nth);
        }
        const auto cases = probe::probe_devices(context, runtime);
        REQUIRE(cases.size() == 2);
        CHECK(cases[0].status == model::Status::error);
        CHECK_THAT(cases[0].reason, Catch::Contains("copy: injected"));
        CHECK(cases[1].status == model::Status::ok);
        CHECK(runtime.holdings() == device::Holdings{});
    }
}

TEST_CASE("a case that breaks the driver's context is the last one, and the rest says why", "[unit]")
{
    tests::FakeRuntime runtime{{.devices = 1}};
    runtime.break_with_copy(40);  // of the second case
    const auto cases = probe::probe_devices(device_context(), runtime);
    REQUIRE(cases.size() == probe::device_cases().size());
    CHECK(cases[0].status == model::Status::ok);
    CHECK(cases[1].status == model::Status::error);
    CHECK_THAT(cases[1].reason, Catch::Contains("misaligned address"));
    for (std::size_t i = 2; i < cases.size(); ++i) {
        CHECK(cases[i].status == model::Status::skipped);
        CHECK(cases[i].reason == cases[1].id + " broke the driver's context of this process (the context is broken): "
                                               "measure this one without it");
    }
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("a device is measured from the node that it is attached to", "[unit]")
{
    const auto before = sys::allowed_cpus();
    tests::FakeRuntime runtime{{.is_on_bus = true, .numa_node = 3}};
    probe::ProbeContext context = device_context();
    context.topology.nodes = {{.id = 2, .cpus = {before.front()}}, {.id = 3, .cpus = {before.back()}}};
    context.topology.devices = {{.address = "0000:02:00.0", .nodes = {2}}};
    std::vector<std::vector<std::uint32_t>> ran_on;
    context.stopped = [&] {
        ran_on.push_back(sys::allowed_cpus());
        return false;
    };
    for (const auto& [device, node, cpu] :
         {std::tuple{0U, "3 (runtime)", before.back()}, {1U, "2 (hwloc)", before.front()}}) {
        context.devices = {device};
        context.wants = [&](const std::string& id) { return id.ends_with("=host_to_device_memcpy_ce"); };
        ran_on.clear();
        const auto cases = probe::probe_devices(context, runtime);
        REQUIRE(cases.size() == 1);
        CHECK(cases.front().status == model::Status::ok);
        CHECK(fact(cases.front(), "host_node") == node);
        REQUIRE(ran_on.size() > 1);
        CHECK(ran_on.back() == std::vector{cpu});
        CHECK(sys::allowed_cpus() == before);
    }
    context.topology.nodes.pop_back();
    CHECK_FALSE(probe::host_side_of(context.topology, runtime.devices()[0]).node);
}

TEST_CASE("a sample of many copies never fills the queue behind a latch", "[unit]")
{
    tests::FakeRuntime runtime{{.devices = 4, .bytes_per_s = 1e12, .latency_s = 1e-7, .peers = true}};
    probe::ProbeContext context = device_context(2);
    context.settings.array_bytes = 4096;
    const std::set<std::string> wanted{"device=gpu0/transfer=host_to_device_memcpy_ce",
                                       "device=gpu0/transfer=device_local_copy_sm",
                                       "device=gpu0/transfer=host_to_device_bidirectional_memcpy_ce",
                                       "transfer=all_to_host_memcpy_ce", "transfer=all_to_all_write_ce"};
    context.wants = [&](const std::string& id) { return wanted.contains(id.substr(id.find('/') + 1)); };
    const auto cases = probe::probe_devices(context, runtime);
    REQUIRE(cases.size() == wanted.size());
    check_whole(cases, runtime);
    for (const model::CaseReport& report : cases) {
        INFO(report.id << ": " << report.reason);
        CHECK(report.status == model::Status::ok);
    }
    CHECK(fact(cases.front(), "copies_per_sample") == "10000");
    CHECK(runtime.longest_queue() <= 256 + 4);  // the latch, and events: two around what is timed, one at the end
}

TEST_CASE("loads of a device's memory are not answered by its cache, and those of the cache are", "[unit]")
{
    tests::FakeRuntime runtime{{.devices = 2, .peers = true, .cache_bytes = 2 * mib}};
    probe::ProbeContext context = device_context();
    context.wants = [](const std::string& id) { return id.ends_with("_latency_sm"); };
    const auto cases = probe::probe_devices(context, runtime);
    check_whole(cases, runtime);
    const auto latencies = [&](const std::string& id) {
        const model::CaseReport& report = find(cases, id);
        REQUIRE(report.status == model::Status::ok);
        return model::find_metric(report, "latency")->values;
    };
    for (const auto& latency : latencies("device=gpu0/transfer=device_local_latency_sm")) {
        CHECK(*latency == Approx(1e-6));
    }
    for (const auto& latency : latencies("device=gpu0/to=gpu1/transfer=device_to_device_latency_sm")) {
        CHECK(*latency == Approx(1e-6));
    }
    for (const auto& latency : latencies("device=gpu0/transfer=device_l2_latency_sm")) {
        CHECK(*latency == Approx(1e-7));
    }
    CHECK(fact(find(cases, "device=gpu0/transfer=device_local_latency_sm"), "caches") ==
          "twice the last cache of 2MiB overwritten before each sample");
    CHECK(fact(find(cases, "device=gpu0/transfer=host_device_latency_sm"), "caches") == "absent");
}

TEST_CASE("one device has no pairs, and says so", "[unit]")
{
    tests::FakeRuntime runtime{{.devices = 1}};
    const auto cases = probe::probe_devices(device_context(), runtime);
    check_whole(cases, runtime);
    CHECK(find(cases, "device=gpu0/transfer=device_to_device_memcpy_read_ce").reason == "needs two devices");
    CHECK(find(cases, "transfer=one_to_all_write_ce").reason == "needs two devices");
    for (const char* const with_host : {"all_to_host_memcpy_ce", "all_to_host_bidirectional_memcpy_ce",
                                        "host_to_all_memcpy_sm", "host_to_all_bidirectional_memcpy_sm"}) {
        CHECK(find(cases, std::string{"transfer="} + with_host).status == model::Status::ok);
    }
    CHECK(fact(find(cases, "transfer=all_to_host_bidirectional_memcpy_ce"), "at_once") ==
          "2 streams, all busy to the end");
}

TEST_CASE("OpenCL's devices are measured every way that they have", "[device]")
{
    const auto runtime = device::open_opencl();
    if (!runtime) {
        std::cout << "no OpenCL device: " << runtime.error().message << '\n';
        return;
    }
    const auto cases = probe::probe_devices(device_context(2), **runtime);
    check_whole(cases, **runtime);
    for (const char* const transfer :
         {"host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_local_copy", "device_local_copy_sm",
          "host_to_device_mapped", "device_to_host_pageable", "host_device_latency_sm", "device_local_latency_sm",
          "host_to_device_staged", "device_to_host_staged", "kernel_launch_latency", "event_latency",
          "stream_wait_latency", "host_device_round_trip_4B_ce", "host_device_round_trip_64KiB_ce"}) {
        CHECK(find(cases, std::string{"device=gpu0/transfer="} + transfer).status == model::Status::ok);
    }
    if ((*runtime)->devices().size() > 1) {
        const auto& pair = find(cases, "device=gpu0/to=gpu1/transfer=device_to_device_memcpy_write_ce");
        CHECK(pair.status == model::Status::ok);
        CHECK_THAT(fact(pair, "peer_access"), Catch::Contains("OpenCL cannot be asked"));
        CHECK_THAT(find(cases, "device=gpu0/to=gpu1/transfer=device_to_device_latency_sm").reason,
                   Catch::Contains("OpenCL cannot be asked"));
    }
}
