#include "core/memory/adaptors.hpp"

#include <chrono>

#include "core/base/assert.hpp"

namespace memsweep::memory {

Allocation CountingAdaptor::counted(Allocation allocation, std::size_t bytes) noexcept
{
    if (allocation.status == AllocStatus::ok) {
        counters_.count_granted(bytes);
    } else {
        counters_.count_refused();
    }
    return allocation;
}

Allocation CountingAdaptor::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    return counted(upstream_.allocate(bytes, alignment), bytes);
}

Allocation CountingAdaptor::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return counted(upstream_.allocate_zeroed(bytes, alignment), bytes);
}

void CountingAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    upstream_.deallocate(ptr, bytes, alignment);
    counters_.count_returned(bytes);
}

bool LimitingAdaptor::take(std::uint64_t bytes) noexcept
{
    std::uint64_t live = live_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > limit_bytes_ - live) {
            return false;
        }
    } while (!live_bytes_.compare_exchange_weak(live, live + bytes, std::memory_order_relaxed));
    return true;
}

Allocation LimitingAdaptor::settled(Allocation allocation, std::uint64_t bytes) noexcept
{
    if (allocation.status != AllocStatus::ok) {
        live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    }
    return allocation;
}

Allocation LimitingAdaptor::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!take(bytes)) {
        return {nullptr, AllocStatus::over_limit};
    }
    return settled(upstream_.allocate(bytes, alignment), bytes);
}

Allocation LimitingAdaptor::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!take(bytes)) {
        return {nullptr, AllocStatus::over_limit};
    }
    return settled(upstream_.allocate_zeroed(bytes, alignment), bytes);
}

void LimitingAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    upstream_.deallocate(ptr, bytes, alignment);
    live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

FailingAdaptor::FailingAdaptor(MemoryResource& upstream, std::uint64_t every) noexcept
    : upstream_{upstream}, every_{every}
{
    MEMSWEEP_ASSERT(every != 0, "a failing adaptor that never fails is left out of the stack");
}

bool FailingAdaptor::refuses_this_one() noexcept
{
    return (requests_.fetch_add(1, std::memory_order_relaxed) + 1) % every_ == 0;
}

Allocation FailingAdaptor::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    return refuses_this_one() ? Allocation{nullptr, AllocStatus::injected} : upstream_.allocate(bytes, alignment);
}

Allocation FailingAdaptor::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return refuses_this_one() ? Allocation{nullptr, AllocStatus::injected}
                              : upstream_.allocate_zeroed(bytes, alignment);
}

void FailingAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    upstream_.deallocate(ptr, bytes, alignment);
}

namespace {

class Timed {
  public:
    Timed(CallTimes& times, bool wanted) noexcept : times_{times}, wanted_{wanted}
    {
        if (wanted_) {
            began_ = std::chrono::steady_clock::now();
        }
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;
    ~Timed()
    {
        if (wanted_) {
            const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began_;
            times_.add(static_cast<std::uint64_t>(took.count()));
        }
    }

  private:
    CallTimes& times_;
    bool wanted_;
    std::chrono::steady_clock::time_point began_;
};

}  // namespace

Allocation TimingAdaptor::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    const Timed timed{times_, bytes >= from_bytes_};
    return upstream_.allocate(bytes, alignment);
}

Allocation TimingAdaptor::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    const Timed timed{times_, bytes >= from_bytes_};
    return upstream_.allocate_zeroed(bytes, alignment);
}

void TimingAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    const Timed timed{times_, bytes >= from_bytes_};
    upstream_.deallocate(ptr, bytes, alignment);
}

}  // namespace memsweep::memory
