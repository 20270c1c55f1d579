// The hot paths. Their time is measured and their instructions are counted. Each path is a loop over `turns`: Google
// Benchmark's State when time is measured, a plain counter when instructions are counted.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "core/lifetime/heap.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/class_pool.hpp"
#include "core/sys/threads.hpp"

namespace memsweep::benchmarks {

inline constexpr std::size_t block_bytes = 4096;

// Allocates and frees a block that the pool's per-thread cache already holds. The pool counts hits and bytes.
template <typename Turns>
void pool_hit(Turns& turns)
{
    static memory::MallocResource* const resource = new memory::MallocResource;
    static memory::ClassPool* const shared = [] {
        model::PoolSpec classes;
        classes.kind = model::PoolKind::classes;
        return new memory::ClassPool{classes, *resource};
    }();
    memory::ClassPool* const pool = shared;
    std::size_t bytes = block_bytes;
    pool->deallocate(pool->allocate(bytes, 16).ptr, bytes, 16);
    for ([[maybe_unused]] auto _ : turns) {
        benchmark::DoNotOptimize(bytes);
        void* block = pool->allocate(bytes, 16).ptr;
        benchmark::DoNotOptimize(block);
        pool->deallocate(block, bytes, 16);
    }
}

// The least that a pool with a per-thread cache must do: a stack of blocks that the thread owns, with hits and
// requested bytes counted.
struct HandWrittenPool {
    std::array<void*, 8> blocks{};
    std::uint32_t count{};
    std::uint64_t taken{};
    std::uint64_t requested{};
};
inline thread_local constinit HandWrittenPool floor_pool{};

template <typename Turns>
void pool_hit_floor(Turns& turns)
{
    std::size_t bytes = block_bytes;
    floor_pool.blocks[0] = std::malloc(bytes);
    floor_pool.count = 1;
    for ([[maybe_unused]] auto _ : turns) {
        benchmark::DoNotOptimize(bytes);
        void* block = floor_pool.count != 0 ? floor_pool.blocks[--floor_pool.count] : std::malloc(bytes);
        ++floor_pool.taken;
        floor_pool.requested += bytes;
        benchmark::DoNotOptimize(block);
        if (floor_pool.count < floor_pool.blocks.size()) {
            floor_pool.blocks[floor_pool.count++] = block;
        } else {
            std::free(block);
        }
        benchmark::ClobberMemory();
    }
    std::free(floor_pool.blocks[0]);
}

// Makes and drops an array's buffer with its reference count, while a second thread exists.
template <typename Turns>
void make_and_drop_buffer(Turns& turns, model::ReleaseMode mode)
{
    const sys::IdleThread second;
    memory::MallocResource resource;
    lifetime::Heap heap{resource, {.mode = mode}};
    for ([[maybe_unused]] auto _ : turns) {
        auto made = heap.allocate(block_bytes, 16, false);
        benchmark::DoNotOptimize(made.buffer);
    }
}

// The least that a per-thread cache of reference-counted blocks of one size must do: takes a block off a stack, sets
// its count to 1, makes a handle of three words, checks the count, and puts the block back. Hits are counted.
struct CachedBlock {
    std::atomic<std::int64_t> count{-1};
    void* data{};
    std::uint64_t bytes{};
    CachedBlock* next{};
};
struct HandWrittenHandle {
    void* data{};
    std::uint64_t bytes{};
    CachedBlock* block{};
};
struct HandWrittenCache {
    CachedBlock* first{};
    std::uint32_t kept{};
    std::uint64_t hits{};
};
inline thread_local constinit HandWrittenCache floor_cache{};

template <typename Turns>
void make_and_drop_floor(Turns& turns)
{
    CachedBlock only;
    floor_cache = {&only, 1, 0};
    for ([[maybe_unused]] auto _ : turns) {
        HandWrittenCache& cache = floor_cache;
        CachedBlock* const block = cache.first;
        if (block == nullptr) {
            std::abort();
        }
        cache.first = block->next;
        --cache.kept;
        ++cache.hits;
        block->count.store(1, std::memory_order_release);
        HandWrittenHandle handle{block->data, block->bytes, block};
        benchmark::DoNotOptimize(handle);
        CachedBlock& dropped = *handle.block;
        if (dropped.count.load(std::memory_order_acquire) == 1 && cache.kept < 8) {
            dropped.count.store(-1, std::memory_order_relaxed);
            dropped.next = cache.first;
            cache.first = &dropped;
            ++cache.kept;
        }
        benchmark::ClobberMemory();
    }
}

// The least that a per-thread cache must do to keep the guarantees of a Heap as well: blocks of several heaps, sizes
// and alignments; weak references to a block; empty handles; the owner's tag in each block.
struct PromisedBlock : CachedBlock {  // a count other than 1 also means that a weak reference exists
    // Identifies the cache that kept the block: each combination of heap, thread and size has its own number.
    std::int64_t place{};
    std::uint16_t tag{};
    std::uint8_t alignment_log2{};
};
struct PromisedHeap {
    std::uint64_t number{};
    std::uint16_t tag{};
};
struct PromisedCache {
    std::uint64_t heap{};
    std::uint64_t bytes{};
    std::int64_t place{};
    PromisedBlock* latest{};
    std::uint64_t hits{};
};
inline thread_local constinit PromisedCache promised_cache{};

template <typename Turns>
void make_and_drop_promised(Turns& turns)
{
    PromisedBlock only;
    only.place = -1;
    only.tag = 1;
    only.alignment_log2 = 4;
    promised_cache = {7, block_bytes, -1, &only, 0};
    PromisedHeap heap{7, 1};
    for ([[maybe_unused]] auto _ : turns) {
        benchmark::DoNotOptimize(heap);
        PromisedCache& cache = promised_cache;
        PromisedBlock* const block = cache.heap == heap.number && cache.bytes == block_bytes ? cache.latest : nullptr;
        if (block == nullptr || block->alignment_log2 < 4) {
            std::abort();
        }
        cache.latest = nullptr;
        ++cache.hits;
        if (block->tag != heap.tag) {
            block->tag = heap.tag;
        }
        block->count.store(1, std::memory_order_release);
        HandWrittenHandle handle{block->data, block_bytes, block};
        benchmark::DoNotOptimize(handle);
        auto* const dropped = static_cast<PromisedBlock*>(handle.block);
        if (dropped != nullptr) {
            if (dropped->count.load(std::memory_order_acquire) != 1) {
                std::abort();
            }
            dropped->count.store(-1, std::memory_order_relaxed);
            if (cache.place != dropped->place || cache.latest != nullptr) {
                std::abort();
            }
            cache.latest = dropped;
        }
        benchmark::ClobberMemory();
    }
}

// If the arguments are --hot-path NAME TURNS, runs the path with this name TURNS times and returns true; for all other
// arguments, returns false. A tool that counts the instructions of this process passes these arguments. If NAME is
// "compiler", prints which compiler built this program, and runs no path.
[[nodiscard]] bool ran_hot_path(int argc, char** argv);

}  // namespace memsweep::benchmarks
