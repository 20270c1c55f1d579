// Each case of the concatenation sweep: one call, its result allocated and freed. concat_beside_numpy.py compares.
#include <benchmark/benchmark.h>

#include <string>

#include "core/array/concat_call.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"

namespace {

using namespace memsweep;

constexpr std::uint64_t numpy_advises_from_bytes = std::uint64_t{4} << 20;

void concat(benchmark::State& state, const model::ConcatCase& what)
{
    memory::MallocResource malloc;
    memory::HugePageAdaptor resource{malloc, numpy_advises_from_bytes};
    lifetime::Heap heap{resource, {}};
    const auto built = array::ConcatCall::build(heap, what);
    if (built.status != memory::AllocStatus::ok) {
        state.SkipWithError(memory::describe(built.status));
        return;
    }
    std::uint64_t result_bytes = 0;
    for (auto _ : state) {
        const array::ConcatResult result = built.call.call(heap);
        if (result.status != array::ConcatStatus::ok) {
            state.SkipWithError("the case could not be concatenated");
            return;
        }
        result_bytes = result.array.bytes();
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(result_bytes));
}

const bool registered = [] {
    for (const model::ConcatCase& what : model::concat_cases()) {
        benchmark::RegisterBenchmark(("concat/" + std::string{what.label}).c_str(),
                                     [&what](benchmark::State& state) { concat(state, what); });
    }
    return true;
}();

}  // namespace
