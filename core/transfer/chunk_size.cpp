#include "core/transfer/chunk_size.hpp"

#include <algorithm>

namespace memsweep::transfer {
namespace {

constexpr std::uint64_t smallest_bytes = 64U << 10U;
constexpr double worth_noticing = 1.02;

}  // namespace

ChunkSize::ChunkSize(std::uint64_t largest_bytes, bool adaptive) noexcept
    : largest_bytes_{largest_bytes},
      bytes_{adaptive ? std::clamp(largest_bytes / 8, std::min(smallest_bytes, largest_bytes), largest_bytes)
                      : largest_bytes},
      adaptive_{adaptive}
{
}

void ChunkSize::passed(std::uint64_t bytes, double seconds) noexcept
{
    if (!adaptive_) {
        return;
    }
    seen_bytes_ += bytes;
    seen_seconds_ += seconds;
    if (++seen_ < chunks_per_look || seen_seconds_ <= 0) {
        return;
    }
    const double rate = static_cast<double>(seen_bytes_) / seen_seconds_;
    if (rate < last_rate_ * worth_noticing) {
        growing_ = !growing_;
    }
    last_rate_ = rate;
    bytes_ = std::clamp(growing_ ? bytes_ * 2 : bytes_ / 2, std::min(smallest_bytes, largest_bytes_), largest_bytes_);
    seen_ = 0;
    seen_bytes_ = 0;
    seen_seconds_ = 0;
}

}  // namespace memsweep::transfer
