// recorded_cuts FILE N: N threads, or 0: the first alone, that allocate, grow and free at random, and count in FILE
// (counting_threads.hpp) what they have done, until they may end. A refused allocation stands before what is counted.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/recorded/counting_threads.hpp"

namespace {

using memsweep::tests::SharedCounts;
using memsweep::tests::ThreadCounts;

SharedCounts* shared;

void count(std::atomic<std::uint64_t>& calls)
{
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void* run(void* own)
{
    ThreadCounts& counts = *static_cast<ThreadCounts*>(own);
    const volatile std::size_t too_much = SIZE_MAX / 2;
    if (std::malloc(too_much) != nullptr) {
        std::abort();
    }
    counts.thread = static_cast<std::uint32_t>(gettid());
    ++shared->running;
    std::array<void*, 500> blocks{};
    std::uint64_t seed = counts.thread;
    while (!shared->may_end.load(std::memory_order_relaxed)) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        void*& block = blocks[(seed >> 33U) % blocks.size()];
        const std::size_t size = 1 + (seed >> 40U) % (seed % 64 == 0 ? 200'000 : 700);
        if (block == nullptr) {
            block = seed % 3 == 0 ? std::calloc(1, size) : std::malloc(size);
            count(counts.allocations);
        } else if (seed % 5 == 0) {
            block = std::realloc(block, size);
            count(counts.reallocations);
        } else {
            std::free(block);
            block = nullptr;
            count(counts.frees);
        }
    }
    return nullptr;
}

}  // namespace

int main(int words, char** word)
{
    const int file = words == 3 ? open(word[1], O_RDWR) : -1;
    void* const mapped = mmap(nullptr, sizeof(SharedCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const auto number = words == 3 ? std::strtoul(word[2], nullptr, 10) : memsweep::tests::most_counting_threads + 1;
    if (mapped == MAP_FAILED || number > memsweep::tests::most_counting_threads) {
        std::perror("recorded_cuts");
        return 64;
    }
    shared = static_cast<SharedCounts*>(mapped);
    shared->process = static_cast<std::uint32_t>(getpid());
    if (number == 0) {
        run(shared->threads.data());
    }
    std::array<pthread_t, memsweep::tests::most_counting_threads> threads{};
    for (std::size_t i = 0; i < number; ++i) {
        if (pthread_create(&threads[i], nullptr, run, &shared->threads[i]) != 0) {
            return 1;
        }
    }
    for (std::size_t i = 0; i < number; ++i) {
        pthread_join(threads[i], nullptr);
    }
    return 0;
}
