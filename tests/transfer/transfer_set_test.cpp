// Every path that bytes can take, on invented devices: all of them arrive, copies are counted, faults are tried again
// and then told, and nothing is left behind.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/sys/numa.hpp"
#include "core/sys/processors.hpp"
#include "core/sys/topology.hpp"
#include "core/transfer/async_copy.hpp"
#include "core/transfer/transfer_set.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"
#include "tests/support/fake_runtime.hpp"
#include "tests/support/numa_policies.hpp"
#include "tests/transfer/transfer_runs.hpp"

using namespace memsweep;
using model::Strategy;
using model::TransferOptions;
using tests::job;
using tests::run;
using tests::small_chunks;
using transfer::TransferSet;

TEST_CASE("every path arrives whole, whatever the sizes", "[unit]")
{
    struct Path {
        const char* text;
        Strategy strategy;
    };
    for (const Path& path :
         {Path{"host -> cpu -> host", Strategy::host}, Path{"gpu0 -> gpu0.ce -> gpu0", Strategy::local},
          Path{"host:pinned -> gpu0.ce -> gpu0", Strategy::pinned},
          Path{"gpu1 -> gpu1.ce -> host:pinned", Strategy::pinned},
          Path{"host:registered -> gpu0.ce -> gpu0", Strategy::pinned},
          Path{"host:write_combined -> gpu0.ce -> gpu0", Strategy::pinned},
          Path{"host -> gpu0.ce -> gpu0", Strategy::registered}, Path{"gpu1 -> gpu1.ce -> host", Strategy::registered},
          Path{"host -> gpu0.ce -> gpu0", Strategy::staged}, Path{"gpu0 -> gpu0.ce -> host", Strategy::staged},
          Path{"host:4k -> gpu0.ce -> gpu0", Strategy::direct}, Path{"gpu0 -> gpu0.ce -> gpu1", Strategy::staged},
          Path{"gpu0 -> gpu1.ce -> gpu1", Strategy::direct}, Path{"null -> gpu0.sm -> gpu0", Strategy::direct}}) {
        for (const std::uint64_t bytes : {1ULL, 8ULL, 95ULL, 96ULL, 97ULL, 1000ULL, 5001ULL}) {
            INFO(path.text << " of " << bytes);
            tests::FakeRuntime runtime;
            const auto statistics = run(runtime, {job(path.text, bytes)}, small_chunks(path.strategy));
            CHECK(statistics.all_bytes() == bytes);
            CHECK(statistics.all_transfers() == 1);
            if (path.strategy == Strategy::staged) {
                CHECK(statistics.chunks == (bytes + 95) / 96);
                CHECK(statistics.staged_bytes == bytes);
            } else {
                CHECK(statistics.chunks == 0);
            }
        }
    }
}

TEST_CASE("the path is chosen, said, and forced", "[unit]")
{
    tests::FakeRuntime apart;
    tests::FakeRuntime peers{{.peers = true}};
    const auto route = [](tests::FakeRuntime& runtime, const char* text, Strategy strategy = Strategy::automatic) {
        return transfer::choose_route(runtime, {*model::parse_transfer(text)}, {.strategy = strategy});
    };
    CHECK(route(apart, "host -> cpu -> host")->strategy == Strategy::host);
    CHECK(route(apart, "gpu0 -> gpu0.ce -> gpu0")->strategy == Strategy::local);
    CHECK(route(apart, "host:pinned -> gpu0.ce -> gpu0")->strategy == Strategy::pinned);
    CHECK(route(apart, "host -> gpu0.ce -> gpu0")->strategy == Strategy::staged);
    const auto small = [&](const char* text, std::uint64_t chunk_bytes) {
        return transfer::choose_route(apart, job(text, (4U << 20U) - 1), {.chunk_bytes = chunk_bytes})->strategy;
    };
    CHECK(small("host -> gpu0.ce -> gpu0", 0) == Strategy::direct);
    CHECK(small("host -> gpu0.ce -> gpu0", 1U << 20U) == Strategy::staged);
    CHECK(small("gpu0 -> gpu0.ce -> host", 0) == Strategy::direct);
    for (const TransferOptions& asked :
         {TransferOptions{.threads = 1}, TransferOptions{.pipeline = false}, TransferOptions{.adaptive = true}}) {
        CHECK(transfer::choose_route(apart, job("host -> gpu0.ce -> gpu0", 1000), asked)->strategy == Strategy::staged);
    }
    CHECK(route(peers, "gpu0 -> gpu0.ce -> gpu1")->strategy == Strategy::p2p);
    CHECK(route(peers, "gpu0 -> gpu0.ce -> gpu1", Strategy::staged)->strategy == Strategy::staged);
    const auto staged = route(apart, "gpu0 -> gpu0.ce -> gpu1", Strategy::p2p);
    REQUIRE(staged);
    CHECK(staged->strategy == Strategy::staged);
    CHECK_THAT(staged->why, Catch::Contains("p2p was asked for") && Catch::Contains("no peer access"));
    const auto message = [&](const char* text, Strategy strategy) {
        return route(apart, text, strategy).error().message;
    };
    CHECK_THAT(message("host -> gpu0.ce -> gpu0", Strategy::pinned), Catch::Contains("pinned host memory"));
    CHECK_THAT(message("host -> gpu0.ce -> gpu0", Strategy::p2p), Catch::Contains("two devices"));
    CHECK_THAT(message("host -> cpu -> host", Strategy::staged), Catch::Contains("needs a device"));
    CHECK_THAT(message("host -> gpu7.ce -> gpu7", Strategy::automatic), Catch::Contains("this machine has 2"));
    CHECK(route(apart, "null -> gpu0.sm -> gpu0")->strategy == Strategy::direct);
    CHECK_THAT(message("gpu0 -> gpu0.ce -> null", Strategy::automatic), Catch::Contains("not to nowhere"));
    CHECK_THAT(message("null -> gpu0.ce -> gpu0", Strategy::staged), Catch::Contains("needs a source"));
    CHECK(transfer::direction(*model::parse_transfer("gpu0 -> gpu0.ce -> gpu1")) == "d2d");
}

TEST_CASE("pieces are copies, unless they are gathered", "[unit]")
{
    tests::FakeRuntime runtime;
    TransferOptions options;
    options.pieces = 10;
    CHECK(run(runtime, {job("host:pinned -> gpu0.ce -> gpu0")}, options).copies == 10);
    options.sync_each = true;
    CHECK(run(runtime, {job("host:pinned -> gpu0.ce -> gpu0")}, options).copies == 10);
    options.batch = true;
    const auto gathered = run(runtime, {job("host:pinned -> gpu0.ce -> gpu0")}, options);
    CHECK(gathered.copies == 1);
    CHECK(gathered.pieces == 10);
    CHECK(gathered.gathered_bytes == 1000);
}

TEST_CASE("what is waited for piece by piece needs no event to end with", "[unit]")
{
    tests::FakeRuntime runtime;
    TransferOptions options;
    options.pieces = 4;
    options.sync_each = true;
    CHECK(run(runtime, {job("host:pinned -> gpu0.ce -> gpu0")}, options, 3).copies == 12);
    CHECK(runtime.events_recorded() == 0);
    runtime.fail_copies_late(2);
    CHECK(run(runtime, {job("host:pinned -> gpu0.ce -> gpu0")}, options).retries == 1);
    options.sync_each = false;
    CHECK(run(runtime, {job("host:pinned -> gpu0.ce -> gpu0")}, options, 3).copies == 12);
    CHECK(runtime.events_recorded() == 3);
}

TEST_CASE("transfers at once: all, or as many as may be, those of higher priority first", "[unit]")
{
    tests::FakeRuntime runtime;
    const std::vector<model::TransferJob> jobs{job("host:pinned -> gpu0.ce -> gpu0", 800, 1),
                                               job("gpu1 -> gpu1.ce -> host:pinned", 900, 9),
                                               job("host -> cpu -> host", 700, 5)};
    CHECK(run(runtime, jobs, {}).most_at_once == 3);
    const std::size_t before = runtime.copies().size();
    TransferOptions throttled;
    throttled.concurrency = 1;
    const auto statistics = run(runtime, jobs, throttled);
    CHECK(statistics.most_at_once == 1);
    CHECK(statistics.all_transfers() == 3);
    CHECK(statistics.average_at_once().value_or(9) <= 1);
    std::vector<std::uint64_t> measured;
    for (std::size_t i = before; i < runtime.copies().size(); ++i) {
        const auto& copy = runtime.copies()[i];
        if (copy.from != device::MemoryKind::pageable && copy.to != device::MemoryKind::pageable) {
            measured.push_back(copy.bytes);
        }
    }
    CHECK(measured == std::vector<std::uint64_t>{900, 800});
}

TEST_CASE("a fault is tried again, then told, and nothing leaks", "[unit]")
{
    for (const char* text : {"host:pinned -> gpu0.ce -> gpu0", "host -> gpu0.ce -> gpu0", "gpu0 -> gpu0.ce -> host",
                             "gpu0 -> gpu0.ce -> gpu1"}) {
        for (const auto& [late, threads] : {std::pair{false, 1U}, {true, 1U}, {false, 3U}, {true, 3U}}) {
            INFO(text << (late ? " late" : " at once") << ", " << threads << " threads");
            tests::FakeRuntime runtime;
            const tests::FakeClock clock;
            TransferOptions options = small_chunks();
            options.threads = threads;
            options.retries = 2;
            options.retry_delay = std::chrono::seconds{1};
            {
                auto set = TransferSet::make(runtime, clock, {job(text)}, options);
                REQUIRE(set);
                const auto inject = [&](std::uint64_t times) {
                    if (late) {
                        runtime.fail_copies_late(1, times);
                    } else {
                        runtime.fail_copies(1, times);
                    }
                };
                inject(1);
                const auto began = clock.now();
                REQUIRE(set->run_turn());
                CHECK(set->statistics().retries == 1);
                CHECK(clock.now() - began >= std::chrono::seconds{1});
                CHECK(*set->check() == "");
                inject(1'000'000);
                const auto failed = set->run_turn();
                REQUIRE_FALSE(failed);
                CHECK_THAT(failed.error().message, Catch::Contains("failed 3 times") && Catch::Contains("injected"));
                CHECK(set->statistics().failed == 1);
                CHECK(clock.now() - began >= std::chrono::seconds{1 + 1 + 1});  // no longer from one to the next
                CHECK(clock.now() - began < std::chrono::seconds{1 + 1 + 2});
                inject(0);
                REQUIRE(set->run_turn());
                CHECK(*set->check() == "");
            }
            CHECK(runtime.holdings() == device::Holdings{});
        }
    }
}

TEST_CASE("what a broken context fails is not tried again", "[unit]")
{
    tests::FakeRuntime runtime;
    const tests::FakeClock clock;
    TransferOptions options;
    options.retries = 5;
    options.retry_delay = std::chrono::seconds{1};
    auto set = TransferSet::make(runtime, clock, {job("host:pinned -> gpu0.ce -> gpu0")}, options);
    REQUIRE(set);
    runtime.break_with_copy(1);
    const auto began = clock.now();
    const auto failed = set->run_turn();
    REQUIRE_FALSE(failed);
    CHECK_THAT(failed.error().message, Catch::Contains("failed at once"));
    CHECK(set->statistics().retries == 0);
    CHECK(clock.now() - began < std::chrono::seconds{1});
}

TEST_CASE("a link hides what its rings do not wait for", "[unit]")
{
    const auto overlap = [](std::int64_t copying, std::int64_t moving, std::int64_t waiting) {
        const transfer::TransferStatistics of_ring{
            .chunks = 4, .host_copy_ns = copying, .link_ns = moving, .staged_wait_ns = waiting, .link_timed = 4};
        transfer::TransferStatistics all;
        for (int ring = 0; ring < 8; ++ring) {
            all += of_ring;
        }
        return all.overlap().value_or(-1);
    };
    CHECK(overlap(800, 100, 0) == 1);      // whatever the calls took
    CHECK(overlap(800, 100, 25) == 0.75);  // of the shorter one
    CHECK(overlap(100, 800, 700) == 1);
    CHECK(overlap(100, 800, 750) == 0.5);
    CHECK(overlap(100, 100, 100) == 0);
    CHECK(overlap(100, 100, 300) == 0);
    CHECK_FALSE(transfer::TransferStatistics{.chunks = 4, .link_timed = 3}.overlap());
}

TEST_CASE("wrong data is found and counted, and said of its transfer", "[unit]")
{
    tests::FakeRuntime runtime;
    const tests::FakeClock clock;
    auto set = TransferSet::make(runtime, clock, {job("host:pinned -> gpu0.ce -> gpu0", 4096)}, {});
    REQUIRE(set);
    runtime.corrupt_copies(1);
    REQUIRE(set->run_turn());
    const auto wrong = set->check();
    REQUIRE(wrong);
    CHECK_THAT(*wrong, Catch::Contains("1 of 512 words differ, the first at byte 2048"));
    CHECK(set->statistics().wrong_bytes == 8);
}

TEST_CASE("memory that may not be pinned, or that nobody has, is refused before anything runs", "[unit]")
{
    tests::FakeRuntime runtime{{.lacking = {device::MemoryKind::managed}}};
    const tests::FakeClock clock;
    const auto message = [&](const char* text, const TransferOptions& options) {
        const auto set = TransferSet::make(runtime, clock, {job(text, 4096)}, options);
        return set ? std::string{"no error"} : set.error().message;
    };
    TransferOptions options;
    options.pinned_budget_bytes = 4000;
    CHECK_THAT(message("host:pinned -> gpu0.ce -> gpu0", options),
               Catch::Contains("need 4KiB of pinned memory; 4000 may be pinned") && Catch::Contains("RLIMIT_MEMLOCK"));
    CHECK_THAT(message("host:managed -> gpu0.ce -> gpu0", {}), Catch::Contains("no managed memory"));
    CHECK_THAT(message("host:mapped -> cpu -> host", {}), Catch::Contains("no device is at the other end"));
    runtime.fail_allocations(1);
    CHECK_THAT(message("host:pinned -> gpu0.ce -> gpu0", {}), Catch::Contains("bytes left"));
    runtime.fail_allocations(3);
    CHECK_THAT(message("host -> gpu0.ce -> gpu0", small_chunks()), Catch::Contains("bytes left"));
    CHECK(runtime.holdings() == device::Holdings{});
}

TEST_CASE("memory made in every turn is given back in every turn, and a program's own work is done in each", "[unit]")
{
    tests::FakeRuntime runtime;
    TransferOptions options = small_chunks();
    options.fresh = true;
    options.work_bytes = 10'000;
    CHECK(run(runtime, {job("host -> gpu0.ce -> gpu0")}, options, 3).all_transfers() == 3);
    options.blocking = true;
    CHECK(run(runtime, {job("host:pinned -> gpu0.ce -> gpu0")}, options, 2).all_transfers() == 2);
}

TEST_CASE("memory is registered for each turn, whatever fails, and given back", "[unit]")
{
    tests::FakeRuntime runtime;
    TransferOptions options;
    options.strategy = Strategy::registered;
    options.pieces = 4;
    const auto statistics = run(runtime, {job("host -> gpu0.ce -> gpu0", 4096)}, options, 3);
    CHECK(statistics.copies == 12);
    CHECK(statistics.pinned_bytes_peak == 4096);
    CHECK(std::ranges::count(runtime.copies(), device::MemoryKind::registered, &tests::CopyRecord::from) == 12);
    runtime.fail_copies(2);
    CHECK(run(runtime, {job("gpu0 -> gpu0.ce -> host", 4096)}, options).retries == 1);
    runtime.fail_copies_late(3);
    CHECK(run(runtime, {job("gpu0 -> gpu0.ce -> host", 4096)}, options).retries == 1);
    const tests::FakeClock clock;
    const auto pinned = TransferSet::make(runtime, clock, {job("host:pinned -> gpu0.ce -> gpu0")}, options);
    REQUIRE_FALSE(pinned);
    CHECK_THAT(pinned.error().message, Catch::Contains("ordinary host memory at the other end"));
}

TEST_CASE("optional transfers are left out where their device is missing", "[unit]")
{
    const auto jobs = [] {
        std::vector<model::TransferJob> all;
        for (const auto& spec : model::for_each_device(*model::parse_transfer("gpu* -> gpu*.ce -> gpu*"), 3)) {
            all.push_back({.spec = spec, .bytes = 500, .optional = true});
        }
        return all;
    }();
    tests::FakeRuntime runtime;
    CHECK(run(runtime, jobs, small_chunks()).all_transfers() == 2);
    const tests::FakeClock clock;
    CHECK_THAT(TransferSet::make(runtime, clock, jobs, {})->routes(),
               Catch::Contains("; 4 left out: this machine has 2 devices"));
    tests::FakeRuntime one{{.devices = 1}};
    const auto none = TransferSet::make(one, clock, jobs, {});
    REQUIRE_FALSE(none);
    CHECK(none.error().code == base::ErrorCode::not_supported);
    CHECK_THAT(none.error().message, Catch::Contains("no device gpu1: this machine has 1"));
}

TEST_CASE("processors of a node move what names it, and the thread is let go afterwards", "[unit]")
{
    const auto before = sys::allowed_cpus();
    const auto nodes = sys::load_topology()->nodes;
    tests::FakeRuntime runtime;
    const std::string text = "host -> cpu" + std::to_string(nodes.front().id) + " -> host";
    CHECK(run(runtime, {job(text.c_str())}, {}, 2).all_transfers() == 2);
    CHECK(sys::allowed_cpus() == before);
    {
        sys::Affinity one;
        REQUIRE(one.limit_to({before.back()}));
        CHECK(sys::allowed_cpus() == std::vector{before.back()});
        CHECK(one.limit_to({before.back()}));
        CHECK_FALSE(one.limit_to({9999}));
    }
    CHECK(sys::allowed_cpus() == before);
    const tests::FakeClock clock;
    const auto elsewhere = TransferSet::make(runtime, clock, {job("host -> cpu977 -> host")}, {});
    REQUIRE_FALSE(elsewhere);
    CHECK(elsewhere.error().code == base::ErrorCode::not_supported);
    CHECK_THAT(elsewhere.error().message, Catch::Contains("no processors on node 977"));
}

TEST_CASE("pinned memory on a node is bound there, and the driver told of it", "[unit]")
{
    if (const std::string why = tests::why_no_numa_policies(); !why.empty()) {
        WARN("skipped: pinned memory on a node: " + why);
        return;
    }
    const auto node = sys::nodes_with_memory().front();
    const std::string text = "host:pinned@node" + std::to_string(node) + " -> gpu0.ce -> gpu0";
    const auto kind_for = [&](tests::FakeMachine machine) {
        tests::FakeRuntime runtime{std::move(machine)};
        CHECK(run(runtime, {job(text.c_str(), 4096)}, {}).copies == 1);
        const auto moved = std::ranges::find_if(runtime.copies(), [](const tests::CopyRecord& copy) {
            return copy.from != device::MemoryKind::pageable && copy.to == device::MemoryKind::device;
        });
        REQUIRE(moved != runtime.copies().end());
        return moved->from;
    };
    CHECK(kind_for({}) == device::MemoryKind::registered);
    CHECK(kind_for({.numa_node = node}) == device::MemoryKind::registered);
    CHECK(kind_for({.lacking = {device::MemoryKind::registered}}) == device::MemoryKind::pinned);
    tests::FakeRuntime runtime;
    const tests::FakeClock clock;
    const auto set = TransferSet::make(runtime, clock, {job(text.c_str(), 4096)}, {});
    REQUIRE(set);
    CHECK_THAT(set->src(0).proof().text, Catch::Contains("node " + std::to_string(node)));
    for (const char* const elsewhere :
         {"host:pinned@node977 -> gpu0.ce -> gpu0", "host:write_combined@node977 -> gpu0.ce -> gpu0"}) {
        const auto refused = TransferSet::make(runtime, clock, {job(elsewhere)}, {});
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == base::ErrorCode::not_supported);
        CHECK_THAT(refused.error().message, Catch::Contains("no memory on node 977"));
    }
}

TEST_CASE("placement is told as the kernel told it", "[unit]")
{
    sys::PagesByNode pages;
    pages.pages = {{0, 10}, {1, 2}};
    CHECK(sys::placement_proof(pages, std::nullopt).text == "10 pages on node 0, 2 pages on node 1 (move_pages)");
    CHECK_FALSE(sys::placement_proof(pages, std::nullopt).wrong);
    CHECK(sys::placement_proof(pages, 0).wrong);
    pages.not_resident = 3;
    CHECK(sys::placement_proof(pages, 0).text == "not proven: 3 pages are not resident");
}
