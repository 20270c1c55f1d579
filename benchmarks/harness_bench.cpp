// What one operation of a scenario costs beyond its memory: alloc and drop through the interpreter on the null
// resource.
#include <benchmark/benchmark.h>

#include "core/engine/compile.hpp"
#include "core/engine/steps/worker.hpp"

namespace {

using namespace memsweep;

void null_op(benchmark::State& state)
{
    constexpr std::int64_t operations = 1'000'000;  // setting a repetition up costs about 0.1 ms, spread over these
    model::AllocStep alloc;
    alloc.as = "a";
    alloc.shape = {1};
    model::RepeatStep loop{operations, {{.operation = alloc}, {.operation = model::DropStep{"a"}}}};
    model::Case one;
    one.memory.resource = model::ResourceKind::null;
    one.work = model::Steps{{.operation = loop}};
    const auto program = engine::compile(one);
    const sys::SystemClock clock;
    auto probe = sys::OwnProcessProbe::open();
    if (!program || !probe) {
        state.SkipWithError("cannot compile or probe");
        return;
    }
    engine::InProcessExecutor executor{{clock, *probe}};
    while (state.KeepRunningBatch(operations)) {
        benchmark::DoNotOptimize(executor.run(*program, {}, [](int /*pid*/) {}));
    }
}

BENCHMARK(null_op)->Name("harness/null_op");

}  // namespace
