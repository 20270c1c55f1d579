// What a hit in a thread's own cache of a pool costs, allocate and free together, its counters on; beside the floor:
// the same work written by hand for one size that is known.
#include <benchmark/benchmark.h>

#include "benchmarks/hot_paths.hpp"

namespace memsweep::benchmarks {
namespace {

constexpr auto& hit = pool_hit<benchmark::State>;
constexpr auto& hit_floor = pool_hit_floor<benchmark::State>;

BENCHMARK(hit)->Name("pool_hit/tls");
BENCHMARK(hit_floor)->Name("pool_hit/floor");
BENCHMARK(hit)->Name("pool_hit/tls_two_threads")->Threads(2);
BENCHMARK(hit_floor)->Name("pool_hit/floor_two_threads")->Threads(2);

}  // namespace
}  // namespace memsweep::benchmarks
