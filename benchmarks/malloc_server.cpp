#include "benchmarks/malloc_server.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "core/base/barrier.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/class_pool.hpp"
#include "core/model/allocator.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/interprocess.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/processors.hpp"
#include "core/sys/threads.hpp"

namespace memsweep::benchmarks {
namespace {

constexpr int answer_fd = 3;
constexpr std::string_view request = "--serve-malloc";
constexpr std::uint64_t operations_to_settle = 4;

struct Answer {
    std::array<char, 512> library{};
    MallocTiming timing;
    std::uint64_t given{};
};

struct Malloc {
    static void* allocate(std::size_t bytes) { return std::malloc(bytes); }
    static void deallocate(void* block, std::size_t /*bytes*/) { std::free(block); }
};

template <typename Resource>
struct Polymorphic {
    Resource resource;
    std::pmr::memory_resource* base{base::hide<std::pmr::memory_resource>(&resource)};  // called through the table
    void* allocate(std::size_t bytes) { return base->allocate(bytes); }
    void deallocate(void* block, std::size_t bytes) { base->deallocate(block, bytes); }
};

// memsweep's own pool of size classes, over malloc.
class Pooled {
  public:
    void* allocate(std::size_t bytes) { return pool_->allocate(bytes, alignment).ptr; }
    void deallocate(void* block, std::size_t bytes) { pool_->deallocate(block, bytes, alignment); }

  private:
    static constexpr std::size_t alignment = 16;

    static model::PoolSpec classes()
    {
        model::PoolSpec spec;
        spec.kind = model::PoolKind::classes;
        return spec;
    }

    std::unique_ptr<memory::MallocResource> upstream_{std::make_unique<memory::MallocResource>()};
    std::unique_ptr<memory::ClassPool> pool_{std::make_unique<memory::ClassPool>(classes(), *upstream_)};
};

template <typename Source>
void run(Source& source, std::uint64_t bytes, std::uint64_t operations, bool touched)
{
    const std::size_t page = sys::page_size();
    for (std::uint64_t i = 0; i < operations; ++i) {
        auto* const block = static_cast<volatile char*>(base::hide(source.allocate(bytes)));
        for (std::size_t at = 0; touched && at < bytes; at += page) {
            block[at] = 1;
        }
        source.deallocate(const_cast<char*>(block), bytes);
    }
}

long minor_faults()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

template <typename Source>
MallocTiming timed(Source source, std::uint64_t bytes, std::uint64_t operations, bool touched)
{
    run(source, bytes, operations_to_settle, touched);
    const long faults = minor_faults();
    const auto begin = std::chrono::steady_clock::now();
    run(source, bytes, operations, touched);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    return {elapsed.count(), static_cast<double>(minor_faults() - faults)};
}

// Each thread's part of the allocator is as a new thread finds it.
MallocTiming timed_in_threads(std::uint64_t bytes, std::uint64_t operations, std::size_t threads)
{
    const std::vector<std::uint32_t> allowed = sys::allowed_cpus();
    std::vector<std::uint32_t> cpus;
    while (!allowed.empty() && cpus.size() < threads) {
        cpus.push_back(allowed[cpus.size() % allowed.size()]);
    }
    const sys::SystemClock clock;
    auto pool = sys::PinnedThreads::start(clock, cpus);
    if (!pool) {
        return {};
    }
    const auto in_each = [&](std::uint64_t times) {
        return pool->run([&](std::size_t /*number*/) {
            Malloc source;
            run(source, bytes, times, false);
        });
    };
    static_cast<void>(in_each(operations_to_settle));
    const long faults = minor_faults();
    const double seconds = sys::seconds_of(in_each(operations));
    return {seconds, static_cast<double>(minor_faults() - faults)};
}

MallocTiming timed_on(std::string_view allocator, std::uint64_t bytes, std::uint64_t operations, bool touched)
{
    if (allocator == "pmr_unsynchronized_pool") {
        return timed(Polymorphic<std::pmr::unsynchronized_pool_resource>{}, bytes, operations, touched);
    }
    if (allocator == "pmr_synchronized_pool") {
        return timed(Polymorphic<std::pmr::synchronized_pool_resource>{}, bytes, operations, touched);
    }
    if (allocator == "memsweep_pool") {
        return timed(Pooled{}, bytes, operations, touched);
    }
    return timed(Malloc{}, bytes, operations, touched);
}

}  // namespace

base::Expected<MallocTiming> time_malloc(const MallocTask& task)
{
    const bool on_top = model::find_allocator(task.allocator) == nullptr;  // pools, over the C library's malloc
    model::AllocatorSpec allocator{.name = on_top ? "glibc" : task.allocator};
    auto library = sys::find_allocator_library(allocator.name);
    if (!library) {
        return base::fail(library.error());
    }
    allocator.library = *library;
    auto region = sys::SharedRegion::create(sizeof(Answer), "malloc-bench");
    if (!region) {
        return base::fail(region.error());
    }
    sys::SpawnOptions spawn{.argv = {"/proc/self/exe", std::string{request}, task.allocator, std::to_string(task.bytes),
                                     std::to_string(task.operations), task.touched ? "touched" : "untouched",
                                     std::to_string(task.threads)},
                            .inherit = {{region->fd(), answer_fd}}};
    sys::put_under(allocator, spawn);
    auto process = sys::ChildProcess::spawn(spawn);
    if (!process) {
        return base::fail(process.error());
    }
    const auto status = process->wait_for(std::chrono::minutes{5});
    const Answer& answer = *region->data<Answer>();
    if (!status || answer.given != 1) {
        return base::fail(base::ErrorCode::invalid_input, "the process that measures ended with " +
                                                              (status ? status->describe() : "no answer in time"));
    }
    if (!sys::is_same_file(answer.library.data(), sys::expected_library(allocator))) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("malloc came from {}", answer.library.data()),
                          task.allocator);
    }
    return answer.timing;
}

bool served(int argc, char** argv)
{
    if (argc != 7 || argv[1] != request) {
        return false;
    }
    auto region = sys::SharedRegion::map(sys::UniqueFd{answer_fd}, sizeof(Answer));
    if (region) {
        auto& answer = *region->data<Answer>();
        const std::uint64_t bytes = std::strtoull(argv[3], nullptr, 10);
        const std::uint64_t operations = std::strtoull(argv[4], nullptr, 10);
        const std::size_t threads = std::strtoull(argv[6], nullptr, 10);
        answer.timing = threads == 0 ? timed_on(argv[2], bytes, operations, argv[5] == std::string_view{"touched"})
                                     : timed_in_threads(bytes, operations, threads);
        sys::serving_library().copy(answer.library.data(), answer.library.size() - 1);
        answer.given = 1;
    }
    return true;
}

}  // namespace memsweep::benchmarks
