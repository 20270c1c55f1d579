// What a handle costs: one copied and dropped, beside std::shared_ptr and a plain intrusive count, while a second
// thread lives (libstdc++ counts without locked instructions until there is one); and a whole array made and dropped
// from a thread's cache.
#include <atomic>
#include <cstdint>
#include <memory>

#include <benchmark/benchmark.h>

#include "benchmarks/hot_paths.hpp"
#include "core/array/array.hpp"
#include "core/lifetime/heap.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/sys/threads.hpp"

namespace memsweep::benchmarks {
namespace {

struct Counted {
    std::atomic<std::int64_t> count{1};
    std::int64_t payload{};
};

// The least that a thread-safe count can do.
class Intrusive {
  public:
    explicit Intrusive(Counted* counted) noexcept : counted_{counted} {}
    Intrusive(const Intrusive& other) noexcept : counted_{other.counted_}
    {
        counted_->count.fetch_add(1, std::memory_order_relaxed);
    }
    Intrusive& operator=(const Intrusive&) = delete;
    ~Intrusive()
    {
        if (counted_->count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete counted_;
        }
    }

  private:
    Counted* counted_;
};

void copy_and_drop(benchmark::State& state, const auto& handle)
{
    const sys::IdleThread second;
    for (auto _ : state) {
        auto copy = handle;
        benchmark::DoNotOptimize(copy);
    }
}

void buffer_handle(benchmark::State& state)
{
    memory::MallocResource resource;
    lifetime::Heap heap{resource, {}};
    const lifetime::Buffer buffer = heap.allocate(4096, 16, false).buffer;
    copy_and_drop(state, buffer);
}

void local_buffer_handle(benchmark::State& state)
{
    memory::MallocResource resource;
    lifetime::Heap heap{resource, {.atomic = false}};
    const lifetime::Buffer buffer = heap.allocate(4096, 16, false).buffer;
    copy_and_drop(state, buffer);
}

void shared_ptr_handle(benchmark::State& state)
{
    copy_and_drop(state, std::make_shared<Counted>());
}

void intrusive_handle(benchmark::State& state)
{
    copy_and_drop(state, Intrusive{new Counted});
}

void make_and_drop_array(benchmark::State& state, model::ReleaseMode mode)
{
    const sys::IdleThread second;
    memory::MallocResource resource;
    lifetime::Heap heap{resource, {.mode = mode}};
    constexpr std::array<std::uint64_t, 1> shape{512};
    for (auto _ : state) {
        auto made = array::Array::create(heap, model::DType::float64, shape, model::Fill::none, model::Touch::none);
        benchmark::DoNotOptimize(made.array);
    }
}

// One heap for all threads of the benchmark.
void make_and_drop_in_one_heap(benchmark::State& state)
{
    static memory::MallocResource* const resource = new memory::MallocResource;
    static lifetime::Heap* const heap = new lifetime::Heap{*resource, {.mode = model::ReleaseMode::tls_cache}};
    for (auto _ : state) {
        auto made = heap->allocate(4096, 16, false);
        benchmark::DoNotOptimize(made.buffer);
    }
}

void make_and_drop_shared(benchmark::State& state)
{
    const sys::IdleThread second;
    for (auto _ : state) {
        auto made = std::make_shared<std::array<std::byte, 4096>>();
        benchmark::DoNotOptimize(made);
    }
}

constexpr auto& make_and_drop = make_and_drop_buffer<benchmark::State>;
constexpr auto& floor_of_both = make_and_drop_floor<benchmark::State>;
constexpr auto& floor_of_promises = make_and_drop_promised<benchmark::State>;

BENCHMARK(buffer_handle)->Name("refcount/buffer");
BENCHMARK(local_buffer_handle)->Name("refcount/buffer_not_atomic");
BENCHMARK(intrusive_handle)->Name("refcount/intrusive");
BENCHMARK(shared_ptr_handle)->Name("refcount/shared_ptr");
// An array's memory and its count; "with_layout" adds shape and strides of up to eight dimensions.
BENCHMARK_CAPTURE(make_and_drop, pooled, model::ReleaseMode::tls_cache)->Name("array_create_free/pooled");
BENCHMARK(make_and_drop_in_one_heap)->Name("array_create_free/pooled_one_heap");
BENCHMARK(floor_of_both)->Name("array_create_free/floor");
BENCHMARK(floor_of_promises)->Name("array_create_free/promised");
BENCHMARK(floor_of_both)->Name("array_create_free/floor_two_threads")->Threads(2);
BENCHMARK(make_and_drop_in_one_heap)->Name("array_create_free/pooled_two_threads")->Threads(2);
BENCHMARK_CAPTURE(make_and_drop_array, pooled, model::ReleaseMode::tls_cache)
    ->Name("array_create_free/pooled_with_layout");
BENCHMARK_CAPTURE(make_and_drop, malloc, model::ReleaseMode::refcount)->Name("array_create_free/malloc");
BENCHMARK(make_and_drop_shared)->Name("array_create_free/make_shared");

}  // namespace
}  // namespace memsweep::benchmarks
