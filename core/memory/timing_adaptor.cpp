#include "core/memory/timing_adaptor.hpp"

#include <chrono>

namespace memsweep::memory {
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
