#include "core/lifetime/pressure_triggers.hpp"

#include <algorithm>
#include <numeric>

namespace memsweep::lifetime {

std::uint64_t CoreClrPressure::budget() const noexcept
{
    const std::uint64_t least = spec_.min_budget;
    std::uint64_t budget = least;
    if (iteration_ >= history) {
        const std::uint64_t added = std::accumulate(added_.begin(), added_.end(), std::uint64_t{0}) - added_[slot()];
        const std::uint64_t removed =
            std::accumulate(removed_.begin(), removed_.end(), std::uint64_t{0}) - removed_[slot()];
        const auto most = static_cast<std::uint64_t>(spec_.max_ratio);
        if (added >= most * removed) {
            budget = least * most;
        } else if (added > removed) {
            budget = least * (added * 1024 / removed) / 1024;  // CoreCLR's fixed point
        }
    }
    const double heap_share = static_cast<double>(spec_.managed_heap) * spec_.heap_share;
    return std::max(budget, static_cast<std::uint64_t>(heap_share));
}

Due CoreClrPressure::before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept
{
    added_[slot()] += bytes;
    const std::uint64_t since = added_[slot()];
    if (since < spec_.min_budget || since < budget()) {
        return Due::no;
    }
    const double since_last = static_cast<double>(now_ns - last_start_ns_);
    const bool first = iteration_ == 0 && last_start_ns_ == 0;
    const bool rested = first || since_last > spec_.duty * static_cast<double>(last_duration_ns_);
    return rested ? Due::background : Due::no;
}

void CoreClrPressure::collected(const Collection& collection) noexcept
{
    ++iteration_;
    added_[slot()] = 0;
    removed_[slot()] = 0;
    last_start_ns_ = collection.start_ns;
    last_duration_ns_ = collection.end_ns - collection.start_ns;
}

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
