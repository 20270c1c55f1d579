// Parallel blocks: every thread does its steps, arrays that are passed on are freed elsewhere, refusals end all.
#include "tests/engine/steps.hpp"

using namespace memsweep;
using model::Step;
using tests::alloc;
using tests::drop;
using tests::repeat;
using tests::run_steps;
using tests::sample;

namespace {

Step parallel(std::uint64_t threads, std::vector<Step> steps)
{
    return {.operation = model::ParallelStep{threads, std::move(steps)}};
}

Step pass(std::string target)
{
    return {.operation = model::PassStep{std::move(target)}};
}

}  // namespace

TEST_CASE("parallel: each thread makes its own arrays, and all are gone at the end of the block", "[unit]")
{
    for (const std::uint64_t threads : {1U, 2U, 5U}) {
        const auto ran =
            run_steps({parallel(threads, {repeat(50, {alloc("a", 1000), drop("a")}), alloc("b", 500)}), sample("end")});
        CHECK(ran.metric("allocations") == static_cast<double>(threads * 51));
        CHECK(ran.metric("allocated_bytes") == static_cast<double>(threads * (50 * 1000 + 500)));
        CHECK(ran.metric("operations") == static_cast<double>(threads * 51));
        CHECK(ran.live_bytes() == std::vector<std::uint64_t>{0});
        CHECK(ran.metric("outstanding") == 0);
    }
}

TEST_CASE("parallel: alloc_free in each thread, counted over all", "[unit]")
{
    model::MemorySpec pooled;
    pooled.pool.kind = model::PoolKind::classes;
    for (const model::MemorySpec& memory : {model::MemorySpec{}, pooled}) {
        const auto ran =
            run_steps({parallel(3, {repeat(2, {tests::alloc_free(256, 500)})}), sample("end")}, {}, memory);
        CHECK(ran.metric("allocations") == 3000);
        CHECK(ran.metric("allocated_bytes") == 3000 * 256);
        CHECK(ran.metric("operations") == 3000);
        CHECK(ran.live_bytes() == std::vector<std::uint64_t>{0});
    }
    model::MemorySpec failing;
    failing.fail_every = 1000;
    const auto refused = run_steps({parallel(2, {tests::alloc_free(256, 1000)})}, {}, failing);
    CHECK(refused.attempt.steps().record.refused == memory::AllocStatus::injected);
    CHECK(refused.attempt.steps().record.refused_bytes == 256);
    CHECK(refused.attempt.steps().record.outstanding == 0);
}

TEST_CASE("parallel: passing on moves every array once, and what is passed on is freed by who has it", "[unit]")
{
    for (const model::ReleaseMode mode : {model::ReleaseMode::refcount, model::ReleaseMode::tls_cache,
                                          model::ReleaseMode::pool, model::ReleaseMode::immediate}) {
        INFO(model::name_of(mode));
        const auto ran = run_steps(
            {parallel(4, {repeat(200, {alloc("a", 256, model::Touch::full, 3), pass("a"), drop("a")})}), sample("end")},
            {.mode = mode});
        CHECK(ran.metric("passed_arrays") == 4 * 200 * 3);
        if (mode == model::ReleaseMode::refcount) {
            CHECK(ran.metric("outstanding") == 0);
            CHECK(ran.live_bytes().front() == 0);
        }
    }
    const auto alone = run_steps({parallel(1, {alloc("a", 256), pass("a"), drop("a")})});
    CHECK(alone.metric("passed_arrays") == 0);  // to itself is not to another
}

TEST_CASE("parallel: over a pool of classes, blocks go round and none is lost", "[unit]")
{
    model::MemorySpec memory;
    memory.pool.kind = model::PoolKind::classes;
    const auto ran =
        run_steps({parallel(3, {repeat(300, {alloc("a", 4096), pass("a"), drop("a")})}), sample("end")}, {}, memory);
    CHECK(ran.metric("pool_misses") <= 3 * 100);
    CHECK(ran.metric("pool_thread_hits") + ran.metric("pool_depot_hits") + ran.metric("pool_common_hits") +
              ran.metric("pool_misses") ==
          900);
    CHECK(ran.live_bytes() == std::vector<std::uint64_t>{0});
}

TEST_CASE("parallel: a refusal in one thread ends the block in all, with nothing held", "[unit]")
{
    model::MemorySpec memory;
    memory.limit_bytes = 2500;
    const auto ran =
        run_steps({parallel(2, {repeat(100, {alloc("a", 1000), alloc("b", 1000), pass("a"), drop("a"), drop("b")})})},
                  {}, memory);
    CHECK(ran.attempt.steps().record.refused == memory::AllocStatus::over_limit);
    CHECK(ran.attempt.steps().record.refused_bytes == 1000);
    CHECK(ran.attempt.steps().record.outstanding == 0);
}

TEST_CASE("parallel: what the threads read goes into the checksum, whoever comes first", "[unit]")
{
    const auto checksum = [] {
        model::AllocStep counting;
        counting.as = "a";
        counting.shape = {100};
        counting.fill = model::Fill::arange;
        counting.touch = model::Touch::full;
        return run_steps({parallel(3, {{.operation = counting}, repeat(5, {tests::read("a")})})}).metric("checksum");
    };
    CHECK(checksum() == checksum());
    CHECK(checksum() != 0);
}
