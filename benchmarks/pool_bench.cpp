// What a hit in a thread's own cache of a pool costs, allocate and free together, its counters on; beside the floor:
// the same work written by hand for one size that is known.
#include <array>
#include <cstdint>
#include <thread>

#include <benchmark/benchmark.h>

#include "core/memory/allocator_resources.hpp"
#include "core/memory/class_pool.hpp"

namespace memsweep {
namespace {

constexpr std::size_t block_bytes = 4096;

model::PoolSpec classes()
{
    model::PoolSpec spec;
    spec.kind = model::PoolKind::classes;
    return spec;
}

void pool_hit(benchmark::State& state)
{
    static memory::MallocResource* const resource = new memory::MallocResource;
    static memory::ClassPool* const pool = new memory::ClassPool{classes(), *resource};
    std::size_t bytes = block_bytes;
    pool->deallocate(pool->allocate(bytes, 16).ptr, bytes, 16);
    for (auto _ : state) {
        benchmark::DoNotOptimize(bytes);
        void* block = pool->allocate(bytes, 16).ptr;
        benchmark::DoNotOptimize(block);
        pool->deallocate(block, bytes, 16);
    }
}

// A stack of blocks that the thread owns, hits and requested bytes counted: the least that this can be.
struct HandWritten {
    std::array<void*, 8> blocks{};
    std::uint32_t count{};
    std::uint64_t taken{};
    std::uint64_t requested{};
};
thread_local constinit HandWritten floor_cache{};

void floor_hit(benchmark::State& state)
{
    std::size_t bytes = block_bytes;
    floor_cache.blocks[0] = std::malloc(bytes);
    floor_cache.count = 1;
    for (auto _ : state) {
        benchmark::DoNotOptimize(bytes);
        void* block = floor_cache.count != 0 ? floor_cache.blocks[--floor_cache.count] : std::malloc(bytes);
        ++floor_cache.taken;
        floor_cache.requested += bytes;
        benchmark::DoNotOptimize(block);
        if (floor_cache.count < floor_cache.blocks.size()) {
            floor_cache.blocks[floor_cache.count++] = block;
        } else {
            std::free(block);
        }
        benchmark::ClobberMemory();
    }
    std::free(floor_cache.blocks[0]);
}

BENCHMARK(pool_hit)->Name("pool_hit/tls");
BENCHMARK(floor_hit)->Name("pool_hit/floor");
BENCHMARK(pool_hit)->Name("pool_hit/tls_two_threads")->Threads(2);
BENCHMARK(floor_hit)->Name("pool_hit/floor_two_threads")->Threads(2);

}  // namespace
}  // namespace memsweep
