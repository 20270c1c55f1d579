// Transfer steps, as a scenario writes them: what is read, and what is refused, at its place.
#include "core/model/step.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

std::string transfer(const std::string& transfers, const std::string& more = {})
{
    return scenario_text(R"("steps": [{"op": "transfer", "transfers": [)" + transfers + "]" + more + "}]");
}

std::string one(const std::string& src, const std::string& exe, const std::string& dst, const std::string& more = {})
{
    return R"({"src": ")" + src + R"(", "exe": ")" + exe + R"(", "dst": ")" + dst + "\"" + more + "}";
}

std::string error_of(const std::string& text)
{
    const auto errors = errors_of(text);
    REQUIRE(errors.size() == 1);
    return errors.front();
}

}  // namespace

TEST_CASE("transfers and what they may be told are read", "[unit]")
{
    const auto plan = plan_of(transfer(one("host:pinned@node0", "gpu0.ce", "gpu0", R"(, "bytes": "256MiB")") + "," +
                                           one("gpu1", "gpu1.ce", "host", R"(, "priority": 9)"),
                                       R"(, "strategy": "staged", "times": 3, "chunk": "1MiB", "slots": 4,
                                          "pipeline": false, "retry_delay": "2ms", "offset": 123)"));
    const auto& step = std::get<model::TransferStep>(plan.cases.front().steps().front().operation);
    REQUIRE(step.jobs.size() == 2);
    CHECK(model::to_text(step.jobs[0].spec) == "host:pinned@node0 -> gpu0.ce -> gpu0");
    CHECK(step.jobs[0].bytes == 256U << 20U);
    CHECK(step.jobs[1].bytes == model::TransferJob{}.bytes);
    CHECK(step.jobs[1].priority == 9);
    model::TransferOptions expected;
    expected.strategy = model::Strategy::staged;
    expected.times = 3;
    expected.chunk_bytes = 1U << 20U;
    expected.slots = 4;
    expected.pipeline = false;
    expected.retry_delay = std::chrono::milliseconds{2};
    expected.offset_bytes = 123;
    CHECK(step.options == expected);
}

TEST_CASE("a step that says nothing of it has the defaults of the model", "[unit]")
{
    const auto plan = plan_of(transfer(one("host", "cpu", "host")));
    const auto& step = std::get<model::TransferStep>(plan.cases.front().steps().front().operation);
    CHECK(step.options == model::TransferOptions{});
}

TEST_CASE("gpu* makes a transfer of each device, which this machine may lack", "[unit]")
{
    const auto plan =
        plan_of(transfer(one("host", "gpu*.ce", "gpu*", R"(, "bytes": "1MiB")") + "," + one("host", "cpu", "host")));
    const auto& step = std::get<model::TransferStep>(plan.cases.front().steps().front().operation);
    REQUIRE(step.jobs.size() == model::max_each_devices + 1);
    for (std::size_t i = 0; i < model::max_each_devices; ++i) {
        CHECK(step.jobs[i].optional);
        CHECK(step.jobs[i].bytes == 1U << 20U);
    }
    CHECK(model::to_text(step.jobs[3].spec) == "host -> gpu3.ce -> gpu3");
    CHECK_FALSE(step.jobs.back().optional);
    const std::string pairs = one("gpu*", "gpu*.ce", "gpu*");
    CHECK_THAT(error_of(transfer(pairs + "," + pairs)), Catch::Contains("112 transfers at once"));
    CHECK_THAT(error_of(transfer(one("host", "gpu0.ce", "gpu0"), R"(, "strategy": "registered", "batch": true)")),
               Catch::Contains("needs no registering"));
}

TEST_CASE("what is no transfer is refused, with its word and what was meant", "[unit]")
{
    CHECK_THAT(error_of(transfer(one("hots", "cpu", "host"))), Catch::Contains("did you mean \"host\""));
    CHECK_THAT(error_of(transfer(one("host:pined", "cpu", "host"))), Catch::Contains("did you mean \"pinned\""));
    CHECK_THAT(error_of(transfer(one("host", "gpu1.ce", "gpu0"))), Catch::Contains("one of them must be gpu1"));
    CHECK_THAT(error_of(transfer(one("host", "cpu", "rank1:host"))), Catch::Contains("\"ranks\": 2"));
    CHECK_THAT(error_of(transfer("")), Catch::Contains("1 to 64 objects"));
    CHECK_THAT(error_of(transfer(R"({"src": "host", "dst": "host"})")), Catch::Contains("\"exe\""));
    CHECK_THAT(error_of(transfer(one("host", "cpu", "host"), R"(, "batch": true)")), Catch::Contains("for a device"));
    CHECK_THAT(error_of(transfer(one("host", "gpu0.ce", "gpu0", R"(, "bytes": 7)"), R"(, "chain": 2)")),
               Catch::Contains("whole words"));
    CHECK_THAT(error_of(transfer(one("host", "cpu", "host"), R"(, "strategy": "stagde")")),
               Catch::Contains("did you mean \"staged\""));
    CHECK_THAT(error_of(transfer(one("host", "cpu", "host"), R"(, "slots": 65)")), Catch::Contains("\"slots\""));
    CHECK_THAT(error_of(transfer(one("host", "gpu0.ce", "gpu0"), R"(, "chunk": 4095)")), Catch::Contains("at least"));
    CHECK(errors_of(transfer(one("host", "gpu0.ce", "gpu0"), R"(, "chunk": 0)")).empty());
}

TEST_CASE("what a kernel moves lies and ends at whole units of it", "[unit]")
{
    const std::string by_kernel = one("host", "gpu0.sm", "gpu0", R"(, "bytes": 4096)");
    CHECK_THAT(error_of(transfer(by_kernel, R"(, "strategy": "registered", "offset": 4)")),
               Catch::Contains("multiples of 16"));
    CHECK_THAT(error_of(transfer(one("gpu0", "gpu0.sm", "gpu0", R"(, "bytes": 4097)"), R"(, "strategy": "local")")),
               Catch::Contains("has 4097 bytes"));
    CHECK(errors_of(transfer(by_kernel, R"(, "strategy": "registered", "offset": 32)")).empty());
    CHECK(errors_of(transfer(by_kernel, R"(, "strategy": "staged", "offset": 4)")).empty());
    CHECK(errors_of(transfer(one("host", "gpu0.ce", "gpu0"), R"(, "strategy": "registered", "offset": 4)")).empty());
}

TEST_CASE("a chain of kernels has host memory that the processor reaches", "[unit]")
{
    CHECK_THAT(error_of(transfer(one("host:mapped", "gpu0.ce", "gpu0"), R"(, "chain": 2)")),
               Catch::Contains("reaches mapped memory only while it is mapped"));
    CHECK(errors_of(transfer(one("host:pinned", "gpu0.ce", "gpu0"), R"(, "chain": 2)")).empty());
    CHECK(errors_of(transfer(one("host:mapped", "gpu0.ce", "gpu0"))).empty());
}

TEST_CASE("transfers between ranks need \"ranks\", and nothing beside them", "[unit]")
{
    const auto between = [](const std::string& need, const std::string& transfers, const std::string& more = {}) {
        return scenario_text("\"ranks\": " + need + R"(, "steps": [{"op": "transfer", "transfers": [)" + transfers +
                             "]" + more + "}]");
    };
    const std::string good = one("rank0:host", "cpu", "rank1:host:pinned@node0", R"(, "bytes": "1MiB")");
    const auto need_of = [&](const std::string& need) { return plan_of(between(need, good)).requirements.ranks; };
    CHECK(need_of("2") == model::RankNeed{.count = 2, .or_more = false});
    CHECK(need_of("\"2+\"") == model::RankNeed{.count = 2, .or_more = true});
    CHECK(plan_of(between("2", good)).fingerprint != plan_of(between("3", good)).fingerprint);
    CHECK(plan_of(between("2", good)).fingerprint != plan_of(between("\"2+\"", good)).fingerprint);
    for (const char* need :
         {"1", "0", "-2", "65537", "2.5", "\"1+\"", "\"+\"", "\"2++\"", "\"many\"", "\"99999999999+\"", "[]"}) {
        INFO(need);
        CHECK_THAT(errors_of(between(need, good)).front(), Catch::Contains("\"ranks\""));
    }
    const auto refused = [&](const std::string& transfers, const std::string& more, const char* said) {
        INFO(transfers << more);
        CHECK_THAT(error_of(between("2", transfers, more)), Catch::Contains(said));
    };
    refused(one("rank0:host", "cpu", "rank2:host"), "", "no rank 2: of 2 the last is rank 1");
    refused(one("host", "cpu", "host"), "", "both ends name theirs");
    refused(one("rank1:host", "cpu", "rank1:host"), "", "both ends are rank 1");
    refused(one("rank0:host", "cpu", "rank1:host", R"(, "bytes": 12)"), "", "a multiple of 8");
    refused(good + "," + good, "", "stands there twice");
    refused(good, R"(, "slots": 4)", "not for transfers between ranks");
    CHECK_THAT(error_of(scenario_text(R"("ranks": 2, "steps": [{"op": "idle", "duration": "1ms"}])")),
               Catch::Contains("transfer steps alone"));
    CHECK_THAT(
        error_of(scenario_text(R"("ranks": 2, "axes": {"to": [1, 2]}, "steps": [{"op": "transfer", "transfers": [)" +
                               good + "]}]")),
        Catch::Contains("axis \"to\""));
}

TEST_CASE("both ends of a transfer, and its slots, are part of what a case is estimated to need", "[unit]")
{
    const auto plan = plan_of(transfer(one("host", "gpu0.ce", "gpu0", R"(, "bytes": "8MiB")"),
                                       R"(, "strategy": "staged", "chunk": "1MiB", "slots": 4)"));
    const auto& step = std::get<model::TransferStep>(plan.cases.front().steps().front().operation);
    CHECK(model::host_bytes(step) == 20U << 20U);
}

}  // namespace memsweep::test
