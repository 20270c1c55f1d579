// Parallel blocks and the steps on pages, as a scenario writes them: what is read, and what is refused.
#include "core/model/step.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

using Errors = std::vector<std::string>;

std::string steps_text(const std::string& steps, const std::string& more = {})
{
    return scenario_text(more + R"("steps": [)" + steps + "]");
}

// Of the only error.
std::string parallel_error(const std::string& steps, const std::string& more = {})
{
    const Errors errors = errors_of(steps_text(steps, more));
    REQUIRE(errors.size() == 1);
    return errors.front();
}

const std::string alloc = R"({"op": "alloc", "as": "a", "shape": [8], "touch": "full"})";
const std::string drop = R"({"op": "drop", "target": "a"})";

std::string parallel(const std::string& steps)
{
    return R"({"op": "parallel", "threads": 3, "steps": [)" + steps + "]}";
}

bool has(const std::string& text, std::string_view part)
{
    INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a parallel block has its threads, its steps, and names of its own", "[unit]")
{
    const auto plan =
        plan_of(steps_text(alloc + "," + parallel(alloc + R"(, {"op": "pass", "target": "a"})") + "," + drop));
    const auto& block = std::get<model::ParallelStep>(plan.cases.front().steps()[1].operation);
    CHECK(block.threads == 3);
    REQUIRE(block.steps.size() == 2);
    CHECK(std::get<model::PassStep>(block.steps[1].operation).target == "a");
    CHECK(has(parallel_error(alloc + "," + parallel(drop)), "no step before this one allocates \"a\""));
    CHECK(has(parallel_error(parallel(alloc) + "," + drop), "no step before this one allocates \"a\""));
}

TEST_CASE("what a thread cannot do is refused in a block, and pass outside of one", "[unit]")
{
    CHECK(has(parallel_error(parallel(alloc + R"(, {"op": "sample", "name": "s"})")),
              "cannot stand in a parallel block"));
    CHECK(has(parallel_error(parallel(parallel(alloc))), "\"parallel\" cannot stand in a parallel block"));
    CHECK(has(parallel_error(alloc + R"(, {"op": "pass", "target": "a"})"), "stands in a \"parallel\" block"));
    CHECK(has(parallel_error(parallel(R"({"op": "alloc", "as": "a", "shape": [8], "timed": true})")),
              "timed as a whole"));
    CHECK(has(parallel_error(parallel(alloc), R"("release": {"mode": "arena"}, )"), "one thread only"));
    CHECK(has(parallel_error(parallel(alloc), R"("release": {"mode": "explicit"}, )"), "one thread only"));
    CHECK(has(parallel_error(parallel(alloc), R"("safety": {"guard_pages": true}, )"), "one thread only"));
    CHECK(has(parallel_error(parallel(alloc), R"("memory": {"resource": "pmr_monotonic"}, )"), "one thread only"));
    CHECK(errors_of(steps_text(parallel(alloc), R"("memory": {"resource": "pmr_sync_pool"}, )")).empty());
}

TEST_CASE("alloc_free is read, by itself and in a block, and wants a size", "[unit]")
{
    const std::string turns = R"({"op": "alloc_free", "bytes": "8KiB", "times": 12})";
    const auto plan = plan_of(steps_text(turns + "," + parallel(R"({"op": "alloc_free", "bytes": 16})")));
    const auto& alone = std::get<model::AllocFreeStep>(plan.cases.front().steps()[0].operation);
    CHECK(alone.bytes == 8192);
    CHECK(alone.times == 12);
    const auto& block = std::get<model::ParallelStep>(plan.cases.front().steps()[1].operation);
    CHECK(std::get<model::AllocFreeStep>(block.steps.front().operation).times == 1);
    CHECK(errors_of(steps_text(turns, R"("memory": {"resource": "null"}, )")).empty());

    CHECK(has(parallel_error(R"({"op": "alloc_free", "times": 5})"), "bytes"));
    CHECK(has(parallel_error(R"({"op": "alloc_free", "bytes": 0})"), "bytes"));
    CHECK(has(parallel_error(R"({"op": "alloc_free", "bytes": 16, "times": 0})"), "times"));
    CHECK(has(parallel_error(R"({"op": "alloc_free", "bytes": 16, "as": "a"})"), "unknown key \"as\""));
    CHECK(has(parallel_error(parallel(R"({"op": "alloc_free", "bytes": 16, "timed": true})")), "timed as a whole"));
    CHECK(has(parallel_error(parallel(turns), R"("memory": {"resource": "pmr_unsync_pool"}, )"), "one thread only"));
}

TEST_CASE("one-threaded resources are refused beside threads of the harness", "[unit]")
{
    CHECK(has(parallel_error(alloc, R"("memory": {"resource": "pmr_unsync_pool"}, "release": {"mode": "finalizer"}, )"),
              "a thread of its own"));
    CHECK(errors_of(steps_text(alloc, R"("memory": {"resource": "pmr_unsync_pool"}, )")).empty());
}

TEST_CASE("prefetch, migrate, stream and share are read, and refused where they make no sense", "[unit]")
{
    const auto plan = plan_of(steps_text(
        alloc + R"(, {"op": "prefetch", "target": "a", "how": "willneed"}, {"op": "migrate", "target": "a", "node": 3},
        {"op": "stream", "target": "a", "chunk": "64KiB", "ahead": 4, "drop_behind": true, "write": true},
        {"op": "share", "bytes": "1MiB", "rounds": 7}, {"op": "purge"})",
        R"("memory": {"resource": "file", "path": "/tmp"}, )"));
    const auto& steps = plan.cases.front().steps();
    CHECK(std::get<model::PrefetchStep>(steps[1].operation).how == model::PrefetchHow::willneed);
    CHECK(std::get<model::MigrateStep>(steps[2].operation).node == 3);
    const auto& stream = std::get<model::StreamStep>(steps[3].operation);
    CHECK(stream.chunk_bytes == 65536);
    CHECK(stream.ahead == 4);
    CHECK(stream.drop_behind);
    CHECK(stream.write);
    CHECK(std::get<model::ShareStep>(steps[4].operation).bytes == 1U << 20U);
    CHECK(std::get<model::ShareStep>(steps[4].operation).rounds == 7);
    CHECK(has(parallel_error(R"({"op": "prefetch", "target": "a"})"), "no step before this one allocates"));
    CHECK(has(parallel_error(alloc + R"(, {"op": "stream", "target": "a", "drop_behind": true})"),
              "needs memory resource \"file\""));
    CHECK(has(parallel_error(alloc + R"(, {"op": "stream", "target": "a", "chunk": 5000})"), "multiple of 4KiB"));
    CHECK(has(parallel_error(R"({"op": "alloc", "as": "a", "shape": [8]}, {"op": "prefetch", "target": "a"})",
                             R"("memory": {"resource": "null"}, )"),
              "gives no memory"));
}

}  // namespace memsweep::test
