#include "core/sys/threads.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/sys/processors.hpp"

namespace memsweep::sys {
namespace {

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
    std::uint64_t round{};  // number of the work handed out
    std::size_t left{};     // that have not ended this round
    bool closing{};
    std::atomic<std::size_t> arrived{};

    void serve(std::size_t number, std::uint32_t cpu)
    {
        pin_failures[number] = run_on({cpu});
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

namespace {

constexpr std::size_t stack_bytes = 8 << 20;  // a library's thread-local data may take most of a small one

void require(bool holds, int error, const char* what)
{
    if (!holds) {
        throw std::system_error{error, std::generic_category(), what};
    }
}

}  // namespace

void IdleThread::Unmap::operator()(void* stack) const noexcept
{
    ::munmap(stack, stack_bytes);
}

IdleThread::IdleThread() : wake_{::eventfd(1, EFD_CLOEXEC)}
{
    require(wake_.valid(), errno, "eventfd");
    void* stack = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    require(stack != MAP_FAILED, errno, "a thread's stack");
    stack_.reset(stack);
    ::madvise(stack, stack_bytes, MADV_NOHUGEPAGE);  // fails only where the kernel has no huge pages
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstack(&attributes, stack, stack_bytes);
    const int refused = ::pthread_create(&thread_, &attributes, &sleep, this);
    ::pthread_attr_destroy(&attributes);
    require(refused == 0, refused, "a thread");
    started_.wait(false);
}

// The first read finds the count of 1 and returns, the second sleeps: the same code and the same stack twice.
void* IdleThread::sleep(void* self) noexcept
{
    auto& thread = *static_cast<IdleThread*>(self);
    for (int read = 0; read < 2; ++read) {
        std::uint64_t count{};
        static_cast<void>(retry_interrupted([&] { return ::read(thread.wake_.get(), &count, sizeof count); }));
        thread.started_.store(true);
        thread.started_.notify_one();
    }
    return nullptr;
}

IdleThread::~IdleThread()
{
    const std::uint64_t count{1};
    static_cast<void>(retry_interrupted([&] { return ::write(wake_.get(), &count, sizeof count); }));
    ::pthread_join(thread_, nullptr);
}

}  // namespace memsweep::sys
