#include "core/sys/pinned_threads.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace memsweep::sys {
namespace {

int pin_to(std::uint32_t cpu)
{
    cpu_set_t* const set = CPU_ALLOC(cpu + 1);
    const std::size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    const int refused = ::pthread_setaffinity_np(::pthread_self(), bytes, set);
    CPU_FREE(set);
    return refused;
}

void wait_a_little(int spins)
{
    constexpr int patience = 2000;  // another process may have the processor of the one that is waited for
    if (spins > patience) {
        std::this_thread::yield();
    }
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

}  // namespace

struct PinnedThreads::State {
    explicit State(const Clock& with) : clock{with} {}

    const Clock& clock;
    std::vector<std::thread> threads;
    std::vector<std::pair<std::chrono::nanoseconds, std::chrono::nanoseconds>> spans;
    std::vector<int> pin_failures;

    std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable finished;
    const std::function<void(std::size_t)>* work{};
    std::uint64_t round{};  // of work handed out
    std::size_t left{};     // that have not ended this round
    bool closing{};
    std::atomic<std::size_t> arrived{};

    void serve(std::size_t number, std::uint32_t cpu)
    {
        pin_failures[number] = pin_to(cpu);
        std::uint64_t seen = 0;
        while (const auto* const todo = next(seen)) {
            const std::size_t all = size;
            arrived.fetch_add(1, std::memory_order_acq_rel);
            for (int spins = 0; arrived.load(std::memory_order_acquire) < all; ++spins) {
                wait_a_little(spins);
            }
            spans[number].first = clock.now();
            (*todo)(number);
            spans[number].second = clock.now();
            const std::scoped_lock lock{mutex};
            if (--left == 0) {
                finished.notify_one();
            }
        }
    }

    const std::function<void(std::size_t)>* next(std::uint64_t& seen)
    {
        std::unique_lock lock{mutex};
        wake.wait(lock, [&] { return closing || round != seen; });
        seen = round;
        return closing ? nullptr : work;
    }

    std::chrono::nanoseconds run(const std::function<void(std::size_t)>& todo)
    {
        std::unique_lock lock{mutex};
        arrived.store(0, std::memory_order_relaxed);
        work = &todo;
        left = size;
        ++round;
        wake.notify_all();
        finished.wait(lock, [&] { return left == 0; });
        auto first = spans.front().first;
        auto last = spans.front().second;
        for (const auto& [start, end] : spans) {
            first = std::min(first, start);
            last = std::max(last, end);
        }
        return last - first;
    }

    void close()
    {
        {
            const std::scoped_lock lock{mutex};
            closing = true;
        }
        wake.notify_all();
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    std::size_t size{};
};

PinnedThreads::PinnedThreads(std::unique_ptr<State> state) : state_{std::move(state)} {}
PinnedThreads::PinnedThreads(PinnedThreads&&) noexcept = default;

PinnedThreads::~PinnedThreads()
{
    if (state_) {
        state_->close();
    }
}

base::Expected<PinnedThreads> PinnedThreads::start(const Clock& clock, std::vector<std::uint32_t> cpus)
{
    if (cpus.empty()) {
        return base::fail(base::ErrorCode::not_supported, "no processor to run a thread on");
    }
    PinnedThreads pool{std::make_unique<State>(clock)};
    State& state = *pool.state_;
    state.size = cpus.size();
    state.spans.resize(cpus.size());
    state.pin_failures.resize(cpus.size());
    try {
        for (std::size_t i = 0; i < cpus.size(); ++i) {
            state.threads.emplace_back(&State::serve, &state, i, cpus[i]);
        }
    } catch (const std::system_error& refused) {
        return base::fail(base::os_error("start a thread", refused.code().value()));
    }
    pool.run([](std::size_t) {});  // every thread has pinned itself once this returns
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        if (state.pin_failures[i] != 0) {
            return base::fail(
                base::os_error(fmt::format("pin a thread to processor {}", cpus[i]), state.pin_failures[i]));
        }
    }
    return pool;
}

std::size_t PinnedThreads::size() const noexcept
{
    return state_->size;
}

std::chrono::nanoseconds PinnedThreads::run(const std::function<void(std::size_t)>& work)
{
    return state_->run(work);
}

}  // namespace memsweep::sys
