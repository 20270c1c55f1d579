// The probe of devices on CUDA's backend, over a library whose devices are invented: what it measures, refuses and
// notices where devices cannot reach each other's memory, or reach something else.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/device/open.hpp"
#include "core/probe/device_cases.hpp"
#include "core/probe/probe.hpp"
#include "tests/cuda/fake_cudart.hpp"
#include "tests/probe/probe_context.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::probe {
namespace {

namespace cudart = tests::fake_cudart;
using device::MemoryKind;
using model::Status;
using tests::fact;
using tests::mib;

const cudart::Pairs first_two{{0, 1}, {1, 0}};

class Probed {
  public:
    explicit Probed(cudart::Devices devices, std::function<bool(const std::string&)> wants = {})
    {
        devices.memory_bytes = 64 * mib;  // all of which is taken for a moment
        cudart::reset(devices);
        runtime_ = *cudart::open_backend();
        ProbeContext context = tests::context_of({.array_bytes = mib,
                                                  .sample_seconds = 0.002,
                                                  .samples = 2,
                                                  .memory_budget_bytes = 64 * mib,
                                                  .ballast = true});
        if (wants) {
            context.wants = std::move(wants);
        }
        cases_ = probe_devices(context, *runtime_);
    }
    Probed(const Probed&) = delete;
    Probed& operator=(const Probed&) = delete;
    ~Probed() { cudart::reset(); }

    [[nodiscard]] device::Runtime& runtime() const { return *runtime_; }
    [[nodiscard]] const std::vector<model::CaseReport>& cases() const { return cases_; }

  private:
    std::unique_ptr<device::Runtime> runtime_;
    std::vector<model::CaseReport> cases_;
};

std::string text_of(const model::CaseReport& report, const std::string& name)
{
    const auto found = std::ranges::find(report.params, name, &model::Param::name);
    return found == report.params.end() ? std::string{} : model::to_text(found->value);
}

const DeviceCase& what_of(const model::CaseReport& report)
{
    return *std::ranges::find(device_cases(), text_of(report, "transfer"), &DeviceCase::name);
}

bool is_of_first_two(const model::CaseReport& report)
{
    const std::set<std::string> ends{text_of(report, "device"), text_of(report, "to")};
    return ends == std::set<std::string>{"gpu0", "gpu1"};
}

bool is_between_devices(const DeviceCase& what)
{
    return is_of_pairs(what.kind) ||
           (is_of_all(what.kind) && what.kind != CaseKind::all_to_host && what.kind != CaseKind::host_to_all);
}

// Kernels that use another device's memory.
bool needs_access(const DeviceCase& what)
{
    return is_between_devices(what) && (what.by_kernel || what.kind == CaseKind::peer_loads);
}

// Kernels that use ordinary memory, which few devices' do.
bool needs_ordinary(const DeviceCase& what)
{
    return what.by_kernel && what.host == MemoryKind::pageable;
}

// Whatever came of the cases: each has its reason, none broke anything, nothing is held.
void check_in_order(const Probed& probed)
{
    for (const model::CaseReport& report : probed.cases()) {
        INFO(report.id << ": " << report.reason);
        CHECK(report.status != Status::error);
        CHECK((report.status == Status::ok) == report.reason.empty());
    }
    CHECK_FALSE(probed.runtime().lost());
    CHECK(probed.runtime().holdings() == device::Holdings{});
}

// A case measured by itself on devices of which two have a bad link; `ends`: between these, empty: by all of them.
std::unique_ptr<Probed> probed_alone(const cudart::Devices& devices, const DeviceCase& what, const std::string& ends)
{
    const std::string id = "probe_device/" + ends + "transfer=" + std::string{what.name};
    auto alone = std::make_unique<Probed>(devices, [&id](const std::string& asked) { return asked == id; });
    INFO(id);
    REQUIRE(alone->cases().size() == 1);
    check_in_order(*alone);
    return alone;
}

// Every case that goes over the link of the first two, each by itself, so that none has it switched off before.
void check_alone(const cudart::Devices& devices, const std::function<bool(const DeviceCase&)>& fails)
{
    for (const DeviceCase& what : device_cases()) {
        if (!is_between_devices(what)) {
            continue;
        }
        for (const char* const ends : {"device=gpu0/to=gpu1/", "device=gpu1/to=gpu0/"}) {
            const auto alone = probed_alone(devices, what, is_of_pairs(what.kind) ? ends : "");
            const model::CaseReport& report = alone->cases().front();
            INFO(report.id << ": " << report.reason);
            CHECK(report.status == (fails(what) ? Status::failed : Status::ok));
            CHECK_THAT(report.reason, Catch::Contains(fails(what) ? "wrong data in sample 1" : ""));
            CHECK(alone->runtime().peer(0, 1).direct == !(fails(what) && is_of_pairs(what.kind)));
        }
    }
}

// All cases of three devices of which the first two have a bad link.
void check_mistrusted(const cudart::Devices& devices)
{
    const Probed probed{devices};
    check_in_order(probed);
    std::size_t failed = 0;
    for (const model::CaseReport& report : probed.cases()) {
        INFO(report.id << ": " << report.reason);
        if (report.status == Status::failed) {
            ++failed;
            CHECK(is_of_first_two(report));
            CHECK_THAT(report.reason, Catch::Contains("wrong data"));
        } else if (needs_ordinary(what_of(report)) ||
                   (needs_access(what_of(report)) && (is_of_first_two(report) || is_of_all(what_of(report).kind)))) {
            CHECK(report.status == Status::skipped);
        } else {
            CHECK(report.status == Status::ok);
        }
    }
    CHECK(failed == 1);  // after which their access is off
    CHECK_FALSE(probed.runtime().peer(0, 1).direct);
    CHECK_FALSE(probed.runtime().peer(1, 0).direct);
    for (const std::uint32_t other : {0U, 1U}) {
        CHECK(probed.runtime().peer(other, 2).direct);
        CHECK(probed.runtime().peer(2, other).direct);
    }
}

}  // namespace

TEST_CASE("devices with access to each other's memory are measured every way", "[unit]")
{
    {
        const Probed probed{{.reaches_ordinary = true}};
        check_in_order(probed);
        for (const model::CaseReport& report : probed.cases()) {
            INFO(report.id << ": " << report.reason);
            CHECK(report.status == Status::ok);
            if (is_of_pairs(what_of(report).kind) && what_of(report).kind != CaseKind::peer_loads) {
                CHECK(fact(report, "peer_access") == "yes");
                CHECK_THAT(fact(report, "verified"), Catch::Contains("by the host"));
            }
        }
    }
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("devices without access copy through the host, and their kernels leave each other's memory alone", "[unit]")
{
    {
        const Probed probed{{.count = 3, .peers = false}};
        check_in_order(probed);
        const std::string why = probed.runtime().peer(0, 1).reason;
        REQUIRE_FALSE(why.empty());
        for (const model::CaseReport& report : probed.cases()) {
            INFO(report.id << ": " << report.reason);
            if (needs_access(what_of(report)) || needs_ordinary(what_of(report))) {
                CHECK(report.status == Status::skipped);
                CHECK_THAT(report.reason,
                           Catch::Contains(needs_access(what_of(report)) ? why : "do not reach ordinary memory"));
            } else {
                CHECK(report.status == Status::ok);
            }
            if (is_of_pairs(what_of(report).kind) && !needs_access(what_of(report))) {
                CHECK_THAT(fact(report, "peer_access"), Catch::StartsWith("no: "));
                CHECK_THAT(fact(report, "verified"), Catch::Contains("by the host"));
            }
        }
    }
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("a link that leads elsewhere fails whatever goes over it", "[unit]")
{
    check_alone({.misdirected = first_two}, [](const DeviceCase&) { return true; });
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("a link that leads elsewhere is switched off, and no other one is blamed", "[unit]")
{
    check_mistrusted({.count = 3, .misdirected = first_two});
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("a link that changes one word of each copy fails whatever is copied over it", "[unit]")
{
    check_alone({.corrupting = first_two}, [](const DeviceCase& what) { return what.kind != CaseKind::peer_loads; });
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("a link that changes what is copied is switched off, and no other one is blamed", "[unit]")
{
    check_mistrusted({.count = 3, .corrupting = first_two});
    CHECK(cudart::holdings() == cudart::Holdings{});
}

TEST_CASE("a slow link is measured as slow, and nothing else is", "[unit]")
{
    const Probed probed{{.count = 3, .slow = first_two}};
    check_in_order(probed);
    std::map<bool, std::vector<double>> rates;  // by whether the pair is the slow one
    for (const model::CaseReport& report : probed.cases()) {
        INFO(report.id << ": " << report.reason);
        CHECK(report.status == (needs_ordinary(what_of(report)) ? Status::skipped : Status::ok));
        if (text_of(report, "transfer") == "device_to_device_memcpy_write_ce") {
            const auto metric = std::ranges::find(report.metrics, std::string{"bandwidth"}, &model::Metric::name);
            REQUIRE(metric != report.metrics.end());
            rates[is_of_first_two(report)].push_back(metric->values.front().value_or(0));
        }
    }
    REQUIRE(rates[true].size() == 2);
    REQUIRE(rates[false].size() == 4);
    const double usual = *std::ranges::min_element(rates[false]);
    CHECK(usual == Approx(*std::ranges::max_element(rates[false])).epsilon(0.01));
    for (const double rate : rates[true]) {  // of the invented clock, so exactly
        CHECK(usual / rate == Approx(cudart::slower).epsilon(0.01));
    }
}

TEST_CASE("managed memory is measured within and beyond what ballast leaves of a card, and all of it is given back",
          "[unit]")
{
    {
        const Probed probed{{.count = 1},
                            [](const std::string& id) { return id.find("=managed_") != std::string::npos; }};
        check_in_order(probed);
        REQUIRE(probed.cases().size() == 9);
        for (const model::CaseReport& report : probed.cases()) {
            INFO(report.id << ": " << report.reason);
            CHECK(report.status == Status::ok);
            const std::uint64_t room = std::stoull(fact(report, "room_bytes"));
            CHECK(room >= 4 * mib);
            CHECK(room <= 6 * mib);  // and a unit of the driver's
            CHECK(std::stoull(fact(report, "array_bytes")) == 4 * mib * what_of(report).percent / 100);
            CHECK_THAT(fact(report, "verified"), Catch::Contains("the last one by the host too"));
        }
        CHECK(cudart::calls_of("advised access") == 3);
    }
    CHECK(cudart::holdings() == cudart::Holdings{});
    cudart::reset({.memory_bytes = 64 * mib});
    const auto runtime = *cudart::open_backend();
    ProbeContext careful = tests::context_of({.array_bytes = mib, .samples = 1, .memory_budget_bytes = 64 * mib});
    careful.wants = [](const std::string& id) {
        return id.find("=managed_150_percent_on_demand") != std::string::npos;
    };
    const auto cases = probe_devices(careful, *runtime);
    REQUIRE(cases.size() == 2);
    CHECK(cases.front().status == Status::skipped);
    CHECK_THAT(cases.front().reason, Catch::Contains("--ballast"));
    cudart::reset();
}

TEST_CASE("kernels measure ordinary memory where they reach it", "[unit]")
{
    for (const bool reaches : {false, true}) {
        const Probed probed{{.count = 1, .reaches_ordinary = reaches},
                            [](const std::string& id) { return id.ends_with("pageable_sm"); }};
        check_in_order(probed);
        REQUIRE(probed.cases().size() == 2);
        for (const model::CaseReport& report : probed.cases()) {
            INFO(report.id << ": " << report.reason);
            CHECK(report.status == (reaches ? Status::ok : Status::skipped));
            CHECK_THAT(report.reason, Catch::Contains(reaches ? "" : "do not reach ordinary memory"));
        }
    }
}

#ifndef MEMSWEEP_HIP  // it has no such library
TEST_CASE("each device is measured from the node that it is attached to", "[unit]")
{
    cudart::reset({.nodes = {1, 0}});
    const auto runtime = *cudart::open_backend();
    ProbeContext context =
        tests::context_of({.array_bytes = mib, .sample_seconds = 0.001, .samples = 1, .memory_budget_bytes = 64 * mib});
    const std::vector<std::uint32_t> cpus = context.nodes.front().cpus;
    context.topology.nodes = {{.id = 0, .cpus = {cpus.front()}}, {.id = 1, .cpus = {cpus.back()}}};
    context.topology.devices.clear();
    context.wants = [](const std::string& id) { return id.ends_with("=host_to_device_memcpy_ce"); };
    const auto cases = probe_devices(context, *runtime);
    REQUIRE(cases.size() == 2);
    for (std::size_t device = 0; device < cases.size(); ++device) {
        INFO(cases[device].reason);
        CHECK(cases[device].status == Status::ok);
        CHECK(fact(cases[device], "host_node") == (device == 0 ? "1 (runtime)" : "0 (runtime)"));
        CHECK_THAT(fact(cases[device], "placement"), !Catch::Equals("absent"));
    }
    cudart::reset();
}

TEST_CASE("managed memory that goes to the host goes to the node nearest to its device, where the driver names nodes",
          "[unit]")
{
    constexpr std::size_t bytes = 4096;
    cudart::reset({.nodes = {1, 0}});
    const auto runtime = *cudart::open_backend();
    const auto prefetched = [&](std::uint32_t device) {
        const auto stream = device::open_stream(*runtime, device);
        const auto managed =
            device::allocate(*runtime, {.device = device, .kind = MemoryKind::managed, .bytes = bytes});
        device::write_pattern({managed->host(), bytes}, {.seed = 3});
        REQUIRE(runtime->prefetch(stream->id(), managed->at(), bytes, device::Side::device));
        REQUIRE(runtime->prefetch(stream->id(), managed->at(), bytes, device::Side::host));
        REQUIRE(runtime->wait(stream->id()));
        CHECK(device::check_pattern({managed->host(), bytes}, {.seed = 3}).words == 0);
    };
    prefetched(0);
    CHECK(cudart::calls_of("prefetch to node 1") == 1);
    prefetched(1);
    CHECK(cudart::calls_of("prefetch to node 0") == 1);
    CHECK(cudart::calls_of("cudaMemPrefetchAsync") == 4);
    // A driver that knows no nodes: asked once more without, and nothing is left of the refusal.
    const auto stream = device::open_stream(*runtime, 0);
    const auto managed = device::allocate(*runtime, {.kind = MemoryKind::managed, .bytes = bytes});
    cudart::fail_next("cudaMemPrefetchAsync", cudaErrorInvalidDevice);
    CHECK(runtime->prefetch(stream->id(), managed->at(), bytes, device::Side::host));
    CHECK(cudart::calls_of("cudaMemPrefetchAsync") == 6);
    CHECK(cudart::calls_of("prefetch to node 1") == 1);
    CHECK(cudart::remembered() == cudaSuccess);
    cudart::reset();
}
#endif

TEST_CASE("memory of a device that is not reached is refused, and nothing is broken", "[unit]")
{
    for (const bool peers : {false, true}) {
        cudart::reset({.peers = peers});
        const auto runtime = *cudart::open_backend();
        const auto stream = device::open_stream(*runtime, 0);
        const auto own = device::allocate(*runtime, {.kind = MemoryKind::device, .bytes = 4096});
        const auto other = device::allocate(*runtime, {.device = 1, .kind = MemoryKind::device, .bytes = 4096});
        const auto on = stream->id();
        const auto check_refused = [&](const auto& outcome) {
            INFO("peers: " << peers);
            REQUIRE_FALSE(outcome);
            CHECK(outcome.error().code == base::ErrorCode::not_supported);
            CHECK(outcome.error().message == runtime->peer(0, 1).reason);
            CHECK_FALSE(runtime->lost());
        };
        check_refused(runtime->write_pattern(on, other->at(), 4096, {}));
        check_refused(runtime->check_pattern(on, other->at(), 4096, {}));
        check_refused(runtime->fill(on, other->at(), std::byte{1}, 4096));
        check_refused(runtime->copy_by_kernel(on, own->at(), other->at(), 4096));
        check_refused(runtime->copy_by_kernel(on, other->at(), own->at(), 4096));
        check_refused(runtime->follow(on, other->at(), 4096, 1, own->at()));
        CHECK(runtime->copy(on, other->at(), own->at(), 4096));
        CHECK(runtime->set_peer_access(0, 1, true).has_value() == peers);
        CHECK(runtime->write_pattern(on, other->at(), 4096, {}).has_value() == peers);
        CHECK(runtime->wait(on));
        CHECK_FALSE(runtime->lost());
    }
    CHECK(cudart::holdings() == cudart::Holdings{});
}

#ifndef MEMSWEEP_HIP  // it has no such library
TEST_CASE("what devices can reach of each other's memory is told", "[unit]")
{
    const auto told = [](const device::Runtime& runtime) {
        const auto facts = probe_device_facts(runtime);
        REQUIRE(facts.size() == 2);
        CHECK(fact(facts[0], "uuid") == "GPU-6d656d73-7765-6570-0000-000000000000");
        CHECK(fact(facts[1], "uuid") == "GPU-6d656d73-7765-6570-0000-000000000001");
        CHECK(fact(facts[1], "peer_gpu0").substr(0, 8) == fact(facts[0], "peer_gpu1").substr(0, 8));
        return fact(facts[0], "peer_gpu1");
    };
    cudart::reset();
    {
        const auto runtime = *cudart::open_backend();
        const std::string before = told(*runtime);
        CHECK_THAT(before, Catch::StartsWith("possible") && Catch::Contains("off now") &&
                               Catch::Contains(", 4 NVLinks through a switch"));
        REQUIRE(runtime->set_peer_access(0, 1, true));
        CHECK_THAT(told(*runtime), Catch::StartsWith("possible") && Catch::Contains("on now"));
    }
    cudart::reset({.peers = false});
    CHECK_THAT(told(**cudart::open_backend()), Catch::StartsWith("no: "));
    cudart::reset();
}
#endif

TEST_CASE("invented devices reach each other's memory as CUDA's do", "[unit]")
{
    constexpr std::size_t bytes = 256;
    cudart::reset();
    void* memory = nullptr;
    void* pooled = nullptr;
    cudaStream_t stream = nullptr;
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps props{};
    REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
    REQUIRE(cudaMemPoolCreate(&pool, &props) == cudaSuccess);
    REQUIRE(cudaMallocFromPoolAsync(&pooled, bytes, pool, stream) == cudaSuccess);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0) == cudaSuccess);
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceEnablePeerAccess(2, 0) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
    const auto set = [&](void* at) {
        REQUIRE(cudaMemsetAsync(at, 7, bytes, stream) == cudaSuccess);
        return cudaStreamSynchronize(stream);
    };
    CHECK(set(memory) == cudaSuccess);
    CHECK(set(pooled) == cudaErrorIllegalAddress);  // access to a pool is the pool's to give
    CHECK(cudaMalloc(&memory, bytes) == cudaErrorIllegalAddress);
    cudart::reset({.peers = false});
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
    CHECK(set(memory) == cudaErrorIllegalAddress);
    cudart::reset();
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaFree(memory) == cudaSuccess);
    CHECK(cudaFree(pooled) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
    CHECK(cudart::holdings() == cudart::Holdings{});
}

}  // namespace memsweep::probe
