#include "app/commands/calibration.hpp"

#include <chrono>

#include "core/engine/program.hpp"
#include "core/model/plan.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t null_operations = 100'000;
constexpr int clock_reads = 1000;

model::Case null_case()
{
    model::Case one;
    one.id = "harness/null";
    one.memory.resource = model::ResourceKind::null;
    model::AllocStep alloc;
    alloc.as = "a";
    alloc.shape = {1};
    model::RepeatStep loop;
    loop.times = null_operations;
    loop.steps.push_back({.operation = alloc});
    loop.steps.push_back({.operation = model::DropStep{"a"}});
    one.steps.push_back({.operation = loop});
    return one;
}

}  // namespace

std::optional<double> harness_seconds_per_op(engine::Executor& executor)
{
    const auto program = engine::compile(null_case());
    if (!program) {
        return std::nullopt;
    }
    const engine::Outcome outcome = executor.run(*program, {.timeout = std::chrono::seconds{30}}, [](int /*pid*/) {});
    if (outcome.ending != engine::Ending::finished) {
        return std::nullopt;
    }
    return static_cast<double>(outcome.record.wall_ns) * 1e-9 / static_cast<double>(null_operations);
}

double clock_read_seconds(const sys::Clock& clock)
{
    const auto begin = clock.now();
    auto end = begin;
    for (int i = 0; i < clock_reads; ++i) {
        end = clock.now();
    }
    return std::chrono::duration<double>(end - begin).count() / clock_reads;
}

}  // namespace memsweep::app
