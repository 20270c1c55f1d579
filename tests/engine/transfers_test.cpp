// Transfer steps in a repetition: what they count, what they lack, and that wrong data and failures are told.
#include "tests/engine/steps.hpp"
#include "tests/support/fake_runtime.hpp"

using namespace memsweep;

namespace {

model::TransferJob job(const char* text, std::uint64_t bytes)
{
    return {*model::parse_transfer(text), bytes, 5};
}

struct Run {
    std::unique_ptr<tests::FakeRuntime> owned = std::make_unique<tests::FakeRuntime>();
    tests::FakeRuntime& runtime = *owned;
    engine::Devices devices{std::move(owned)};

    tests::Ran operator()(const model::TransferStep& step)
    {
        model::Case one;
        one.id = "test";
        one.work = model::Steps{{.operation = step}};
        const tests::FakeClock clock;
        tests::FakeProbe probe;
        engine::InProcessExecutor executor{{clock, probe, &devices}};
        const auto program = engine::compile(one);
        REQUIRE(program);
        tests::Ran ran;
        engine::declare_metrics(*program, ran.report);
        ran.attempt = executor.run(*program, {}, [](int /*pid*/) {});
        engine::append_repetition(*program, ran.attempt, {4096, 2 << 20}, ran.report);
        CHECK(runtime.holdings() == device::Holdings{});
        return ran;
    }
};

}  // namespace

TEST_CASE("transfer steps count what arrived, what was staged, and which way it took", "[unit]")
{
    Run run;
    model::TransferStep step;
    step.jobs = {job("host -> gpu0.ce -> gpu0", 1000), job("gpu1 -> gpu1.ce -> host:pinned", 500)};
    step.options.times = 3;
    step.options.chunk_bytes = 100;
    const tests::Ran ran = run(step);
    CHECK(ran.attempt.ending == engine::Ending::finished);
    CHECK(ran.metric("transferred_bytes") == 4500);
    CHECK(ran.metric("staged_bytes") == 3000);
    CHECK(ran.metric("transfer_copies") == 33);
    CHECK(ran.metric("transfer_wrong_bytes") == 0);
    CHECK(ran.metric("pinned_bytes_peak") == 700);
    CHECK(ran.metric("bandwidth") > 0);
    const std::string routes = ran.attempt.steps().record.transfers.routes.data();
    CHECK_THAT(routes, Catch::Contains("host -> gpu0.ce -> gpu0: staged") && Catch::Contains("host:pinned: pinned"));
}

TEST_CASE("a chain of kernels copies once each way, or once each way for every kernel", "[unit]")
{
    for (const bool keep : {true, false}) {
        Run run;
        model::TransferStep step;
        step.jobs = {job("host:pinned -> gpu0.ce -> gpu0", 4096)};
        step.options.chain = 8;
        step.options.keep = keep;
        const tests::Ran ran = run(step);
        CHECK(ran.attempt.ending == engine::Ending::finished);
        CHECK(ran.metric("transfer_copies") == (keep ? 2 : 16));
        CHECK(ran.metric("transfer_wrong_bytes") == 0);
    }
}

TEST_CASE("a device that is not there is no error: the case is unmet, with the reason", "[unit]")
{
    Run run;
    model::TransferStep step;
    step.jobs = {job("host -> gpu7.ce -> gpu7", 1000)};
    const tests::Ran ran = run(step);
    CHECK(ran.attempt.ending == engine::Ending::unmet);
    CHECK_THAT(ran.attempt.reason, Catch::Contains("no device gpu7: this machine has 2"));
}

TEST_CASE("a transfer that fails for good ends the repetition, and wrong data are counted", "[unit]")
{
    Run run;
    model::TransferStep step;
    step.jobs = {job("host:pinned -> gpu0.ce -> gpu0", 4096)};
    step.options.retries = 1;
    run.runtime.fail_copies(2, 100);  // after the destination was written
    const tests::Ran failed = run(step);
    CHECK(failed.attempt.ending == engine::Ending::refused);
    CHECK_THAT(failed.attempt.reason, Catch::Contains("failed 2 times"));

    Run other;
    other.runtime.corrupt_copies(2);
    const tests::Ran wrong = other(step);
    CHECK(wrong.attempt.ending == engine::Ending::finished);
    CHECK(wrong.metric("transfer_wrong_bytes") == 8);
}
