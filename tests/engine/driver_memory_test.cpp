// Cases whose arrays are memory of a device's driver: counts and bytes as of any other, nothing left with the driver,
// and what is missing or refused leaves the case unmet, with the reason.
#include <functional>
#include <iostream>

#include "core/device/open.hpp"
#include "core/model/specs.hpp"
#include "tests/engine/steps.hpp"
#include "tests/support/fake_runtime.hpp"

using namespace memsweep;
using model::ReleaseMode;
using model::ResourceKind;
using tests::alloc;
using tests::collect;
using tests::drain;
using tests::drop;
using tests::repeat;
using tests::sample;

namespace {

constexpr std::uint64_t bytes = 10'000;

// What becomes of the program on these devices, and that the driver has everything back.
tests::Ran run_on(std::unique_ptr<device::Runtime> owned, std::vector<model::Step> steps,
                  const model::ReleaseSpec& release, const model::MemorySpec& memory,
                  const std::function<void(engine::CompiledCase&)>& change = {})
{
    device::Runtime& runtime = *owned;
    engine::Devices devices{std::move(owned)};
    const tests::FakeClock clock;
    tests::FakeProbe probe;
    engine::CompiledCase program = tests::program_of(std::move(steps), release, memory);
    if (change) {
        change(program);
    }
    tests::Ran ran;
    {
        engine::InProcessExecutor executor{{clock, probe, &devices}};
        engine::declare_metrics(program, ran.report);
        ran.attempt = executor.run(program, {}, [](int /*pid*/) {});
        engine::append_repetition(program, ran.attempt, {4096, 2 << 20}, ran.report);
    }
    CHECK(runtime.holdings() == device::Holdings{});
    return ran;
}

std::function<void(engine::CompiledCase&)> requiring(std::uint32_t devices)
{
    return [devices](engine::CompiledCase& program) { program.steps().required_devices = devices; };
}

std::vector<model::Step> churn()
{
    return {repeat(7, {alloc("a", bytes, model::Touch::none, 3), drop("a"), collect, drain}), sample("end")};
}

model::MemorySpec memory_of(ResourceKind kind, model::PoolKind pool = model::PoolKind::none)
{
    model::MemorySpec memory;
    memory.resource = kind;
    memory.pool.kind = pool;
    memory.pool.chunk_bytes = 1U << 20U;
    return memory;
}

std::vector<ResourceKind> driver_kinds()
{
    std::vector<ResourceKind> kinds;
    for (const auto& kind : model::names<ResourceKind>()) {
        if (model::is_from_driver(kind.value)) {
            kinds.push_back(kind.value);
        }
    }
    return kinds;
}

std::vector<model::PoolKind> pool_kinds()
{
    return {model::PoolKind::none, model::PoolKind::classes, model::PoolKind::best_fit, model::PoolKind::tlsf};
}

// Every kind, with and without a pool, on devices of this sort; a kind that they lack is unmet.
template <typename MakeRuntime>
void check_every_kind(const MakeRuntime& make_runtime)
{
    for (const ResourceKind kind : driver_kinds()) {
        for (const model::PoolKind pool : pool_kinds()) {
            INFO(model::name_of(kind) << ", pool " << model::name_of(pool));
            const tests::Ran ran = run_on(make_runtime(), churn(), {}, memory_of(kind, pool));
            if (ran.attempt.ending == engine::Ending::unmet) {
                CHECK_THAT(ran.attempt.reason,
                           Catch::StartsWith("gpu0 has no " + std::string{model::name_of(kind)} + " memory: "));
                continue;
            }
            REQUIRE(ran.attempt.ending == engine::Ending::finished);
            CHECK(ran.metric("allocations") == 21);
            CHECK(ran.metric("allocated_bytes") == 21 * bytes);
            CHECK(ran.metric("live_bytes_peak") == 3 * bytes);
            CHECK(ran.live_bytes() == std::vector<std::uint64_t>{0});
            CHECK_THAT(ran.attempt.steps().record.device.name.data(), Catch::StartsWith("gpu0: "));
            if (pool == model::PoolKind::classes) {
                CHECK(ran.metric("pool_misses") == 3);  // what the pool is worth: 18 calls of the driver fewer
            }
        }
    }
}

}  // namespace

TEST_CASE("arrays of a driver's memory are counted as any other, and all goes back to it", "[unit]")
{
    check_every_kind([] { return std::make_unique<tests::FakeRuntime>(); });
}

TEST_CASE("arrays of memory that OpenCL gives are counted as any other, and all goes back to it", "[device]")
{
    if (const auto runtime = device::open_opencl(); !runtime) {
        std::cout << "no OpenCL device: " << runtime.error().message << '\n';
        return;
    }
    check_every_kind([] { return *device::open_opencl(); });
    model::MemorySpec other = memory_of(ResourceKind::device, model::PoolKind::classes);
    other.device = 1;
    const tests::Ran ran = run_on(*device::open_opencl(), churn(), {}, other);
    CHECK(ran.attempt.ending == engine::Ending::finished);
    CHECK_THAT(ran.attempt.steps().record.device.name.data(), Catch::StartsWith("gpu1: "));
}

TEST_CASE("no release mode and no pool reads or writes memory beyond the processor's reach", "[unit]")
{
    for (const auto& mode : model::names<ReleaseMode>()) {
        for (const model::PoolKind pool : pool_kinds()) {
            INFO(mode.name << ", pool " << model::name_of(pool));
            model::ReleaseSpec release;
            release.mode = mode.value;
            release.arena.initial_bytes = 1U << 20U;
            release.cache.stack_bytes = 1U << 20U;
            const std::vector<model::Step> steps{tests::scope(churn())};
            const tests::Ran ran =
                run_on(std::make_unique<tests::FakeRuntime>(), steps, release, memory_of(ResourceKind::device, pool));
            CHECK(ran.attempt.ending == engine::Ending::finished);  // an access would have ended this process
        }
    }
}

TEST_CASE("zeros beyond the processor's reach are the driver's doing", "[unit]")
{
    model::AllocStep step;
    step.as = "a";
    step.dtype = model::DType::uint8;
    step.shape = {bytes};
    step.fill = model::Fill::zeros;
    step.touch = model::Touch::none;
    const std::vector<model::Step> steps{repeat(5, {{.operation = step}, drop("a")}), sample("end")};
    const tests::Ran ran = run_on(std::make_unique<tests::FakeRuntime>(), steps, {}, memory_of(ResourceKind::device));
    CHECK(ran.attempt.ending == engine::Ending::finished);
    CHECK(ran.metric("allocations") == 5);
}

TEST_CASE("a device or a kind of memory that is not there leaves the case unmet, with the reason", "[unit]")
{
    const auto reason_of = [](tests::FakeMachine machine, const model::MemorySpec& memory, std::uint32_t required = 0) {
        const tests::Ran ran =
            run_on(std::make_unique<tests::FakeRuntime>(std::move(machine)), churn(), {}, memory, requiring(required));
        CHECK(ran.attempt.ending == engine::Ending::unmet);
        return ran.attempt.reason;
    };
    model::MemorySpec third = memory_of(ResourceKind::pinned);
    third.device = 2;
    CHECK_THAT(reason_of({}, third), Catch::Contains("no device gpu2: this machine has 2"));
    CHECK_THAT(reason_of({.devices = 0}, memory_of(ResourceKind::device)), Catch::Contains("no device gpu0"));
    CHECK_THAT(reason_of({}, {}, 4), Catch::Contains("no device gpu3: this machine has 2"));
    CHECK_THAT(reason_of({.lacking = {device::MemoryKind::managed}}, memory_of(ResourceKind::managed)),
               Catch::Contains("gpu0 has no managed memory"));
    CHECK(run_on(std::make_unique<tests::FakeRuntime>(), churn(), {}, {}, requiring(2)).attempt.ending ==
          engine::Ending::finished);  // ordinary memory, of a scenario that requires a device
}

TEST_CASE("what a device's memory must hold is held against the device; against the budget where it is the host's",
          "[unit]")
{
    constexpr std::uint64_t has = 1U << 20U;
    const auto reason_of = [](bool shared, std::uint64_t estimate, std::uint64_t budget) {
        tests::FakeMachine machine{.memory_bytes = has};
        machine.shares_host_memory = shared;
        const tests::Ran ran = run_on(std::make_unique<tests::FakeRuntime>(machine), churn(), {},
                                      memory_of(ResourceKind::device), [&](engine::CompiledCase& program) {
                                          program.steps().estimate_bytes = estimate;
                                          program.steps().memory_budget_bytes = budget;
                                      });
        CHECK((ran.attempt.ending == engine::Ending::unmet) == !ran.attempt.reason.empty());
        return ran.attempt.reason;
    };
    CHECK(reason_of(false, has, 1).empty());
    CHECK_THAT(reason_of(false, has + 1, 0), Catch::Contains("gpu0 has 1.00 MiB"));
    CHECK(reason_of(true, has + 1, 0).empty());
    CHECK(reason_of(true, 2 * has, 2 * has).empty());
    CHECK_THAT(reason_of(true, 2 * has + 1, 2 * has),
               Catch::Contains("above the budget of 2.00 MiB (--max-memory): the memory of gpu0 is the host's"));
}

TEST_CASE("memory that the driver refuses leaves the case unmet; a limit of ours does not", "[unit]")
{
    const std::vector<model::Step> steps{alloc("a", 600'000, model::Touch::none, 3), sample("end")};
    const tests::Ran ran = run_on(std::make_unique<tests::FakeRuntime>(tests::FakeMachine{.memory_bytes = 1U << 20U}),
                                  steps, {}, memory_of(ResourceKind::device));
    CHECK(ran.attempt.ending == engine::Ending::unmet);
    CHECK_THAT(ran.attempt.reason, Catch::Contains("was refused with 585.9 KiB live, after 1 arrays"));
    model::MemorySpec limited = memory_of(ResourceKind::device);
    limited.limit_bytes = 1'000'000;
    CHECK(run_on(std::make_unique<tests::FakeRuntime>(), steps, {}, limited).attempt.ending == engine::Ending::refused);
}

TEST_CASE("what the processor does not reach is neither guarded nor poisoned", "[unit]")
{
    const auto refusal = [](const model::MemorySpec& memory, const model::SafetySpec& safety) {
        model::Case one;
        one.id = "test";
        one.work = churn();
        one.memory = memory;
        one.release.safety = safety;
        const auto program = engine::compile(one);
        return program ? std::string{} : program.error().message;
    };
    CHECK_THAT(refusal(memory_of(ResourceKind::device), {.detect = model::Detection::quarantine}),
               Catch::Contains("does not reach"));
    CHECK_THAT(refusal(memory_of(ResourceKind::pinned), {.guard_pages = true}), Catch::Contains("guard pages"));
    CHECK(refusal(memory_of(ResourceKind::pinned), {.detect = model::Detection::quarantine}).empty());
    CHECK(refusal(memory_of(ResourceKind::device), {.detect = model::Detection::flag}).empty());
    model::MemorySpec clearing = memory_of(ResourceKind::device, model::PoolKind::classes);
    clearing.pool.zeros = model::ZeroRule::on_return;
    CHECK_THAT(refusal(clearing, {}), Catch::Contains("on_return"));
}
