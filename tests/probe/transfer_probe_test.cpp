#include <algorithm>

#include "core/device/open.hpp"
#include "core/probe/probe.hpp"
#include "tests/probe/probe_context.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_runtime.hpp"

using namespace memsweep;

namespace {

probe::ProbeContext context_for(std::uint64_t bytes)
{
    return tests::context_of(
        {.array_bytes = bytes, .sample_seconds = 0.0005, .samples = 2, .memory_budget_bytes = 256U << 20});
}

std::vector<model::TransferSpec> specs_of(std::initializer_list<const char*> texts)
{
    std::vector<model::TransferSpec> specs;
    for (const char* text : texts) {
        specs.push_back(*model::parse_transfer(text));
    }
    return specs;
}

}  // namespace

TEST_CASE("copies, reads and writes arrive whole, whatever their size", "[machine]")
{
    for (const std::uint64_t bytes : {64U << 10, (1U << 20) + 8, 3U << 20}) {
        for (const char* text :
             {"host -> cpu -> host", "host:4k -> cpu -> host", "host -> cpu -> null", "null -> cpu -> host"}) {
            INFO(text << " of " << bytes);
            const auto cases = probe::probe_transfers(context_for(bytes), specs_of({text}));
            REQUIRE(cases.size() == 1);
            CHECK(cases[0].reason == "");
            CHECK(cases[0].repetitions == 2);
            CHECK(model::find_metric(cases[0], "bandwidth")->summary->min > 0);
        }
    }
}

TEST_CASE("several at once have a case each and one together, or say how many processors they need", "[machine]")
{
    const auto cases =
        probe::probe_transfers(context_for(1U << 20), specs_of({"host -> cpu -> host", "host -> cpu -> null"}));
    REQUIRE(cases.size() == 3);
    const bool enough = sys::load_topology()->nodes.front().cpus.size() >= 2;
    for (std::size_t i = 0; i < 2; ++i) {
        INFO(cases[i].id << ": " << cases[i].reason);
        CHECK((cases[i].status == model::Status::ok || !enough));
    }
    CHECK(cases[2].scenario == "probe_transfers");
    if (enough) {
        const double sum = *model::find_metric(cases[0], "bandwidth")->values[0] +
                           *model::find_metric(cases[1], "bandwidth")->values[0];
        CHECK(*model::find_metric(cases[2], "bandwidth")->values[0] == sum);
    }
}

TEST_CASE("what cannot be moved is skipped with its reason", "[machine]")
{
    const auto reason = [](const char* text, std::uint64_t bytes = 1U << 20) {
        const auto cases = probe::probe_transfers(context_for(bytes), specs_of({text}));
        CHECK(cases.at(0).status == model::Status::skipped);
        return cases.at(0).reason;
    };
    CHECK_THAT(reason("host:mapped -> cpu -> host"), Catch::Contains("no device is at the other end"));
    CHECK_THAT(reason("host -> cpu -> rank1:host"), Catch::Contains("rank"));
    CHECK_THAT(reason("host@node977 -> cpu -> host"), Catch::Contains("no memory on node 977"));
    CHECK_THAT(reason("host -> cpu977 -> host"), Catch::Contains("no processors"));
    CHECK_THAT(reason("host -> cpu -> host", std::uint64_t{1} << 40), Catch::Contains("--size"));
}

TEST_CASE("transfers of devices have their route, its reason and their samples; without a device they are skipped",
          "[unit]")
{
    tests::FakeRuntime runtime;
    const auto cases = probe::probe_device_transfers(
        context_for(1U << 20), runtime,
        specs_of({"host:pinned -> gpu0.ce -> gpu0", "gpu0 -> gpu0.ce -> gpu1", "host -> cpu -> host"}));
    REQUIRE(cases.size() == 4);
    const auto fact = [&](std::size_t number, std::string_view name) {
        const auto found = std::ranges::find(cases[number].facts, name, &model::Param::name);
        REQUIRE(found != cases[number].facts.end());
        return model::to_text(found->value);
    };
    for (std::size_t i = 0; i < 3; ++i) {
        INFO(cases[i].id << ": " << cases[i].reason);
        CHECK(cases[i].status == model::Status::ok);
        CHECK(cases[i].repetitions == 2);
    }
    CHECK(fact(0, "strategy") == "pinned");
    CHECK(fact(1, "strategy") == "staged");
    CHECK(fact(1, "direction") == "d2d");
    CHECK_THAT(fact(1, "why"), Catch::Contains("no peer access"));
    CHECK(fact(2, "strategy") == "host");
    CHECK(runtime.holdings() == device::Holdings{});

    const auto none = device::no_runtime("nobody is here");
    const auto skipped =
        probe::probe_device_transfers(context_for(1U << 20), *none, specs_of({"host -> gpu0.ce -> gpu0"}));
    CHECK(skipped.at(0).status == model::Status::skipped);
    CHECK_THAT(skipped.at(0).reason, Catch::Contains("nobody is here"));
}
