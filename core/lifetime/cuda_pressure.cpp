#include "core/lifetime/cuda_pressure.hpp"

#include <algorithm>

namespace memsweep::lifetime {

Due CudaPressure::before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept
{
    const double pressure = static_cast<double>(live_) / static_cast<double>(spec_.capacity);
    live_ += bytes;
    if (pressure < spec_.threshold) {
        return Due::no;
    }
    double allowed = spec_.max_gc_share;
    allowed *= last_freed_ > 0.1 ? 2 : 1;
    allowed *= pressure > 0.90 ? 2 : 1;
    allowed *= pressure > 0.95 ? 2 : 1;
    const auto since = static_cast<double>(now_ns - last_end_ns_);
    const bool seldom = last_end_ns_ < 0 || gc_ns_ <= allowed * (since + gc_ns_);
    return seldom ? Due::now : Due::no;
}

void CudaPressure::freed(std::uint64_t bytes) noexcept
{
    live_ -= std::min(bytes, live_);
}

void CudaPressure::collected(const Collection& collection) noexcept
{
    const auto took = static_cast<double>(collection.end_ns - collection.start_ns);
    gc_ns_ = last_end_ns_ < 0 ? took : 0.75 * gc_ns_ + 0.25 * took;
    const auto before = static_cast<double>(live_ + collection.freed_bytes);
    last_freed_ = before > 0 ? static_cast<double>(collection.freed_bytes) / before : 0;
    last_end_ns_ = collection.end_ns;
}

}  // namespace memsweep::lifetime
