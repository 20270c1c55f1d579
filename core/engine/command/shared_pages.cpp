#include "core/engine/command/shared_pages.hpp"

#include <algorithm>

#include "core/sys/page_ops.hpp"

namespace memsweep::engine {
namespace {

constexpr std::uint64_t resting = 512;  // less than one in so many bytes is new since the sample before

std::uint64_t above(std::uint64_t bytes, std::uint64_t below)
{
    return bytes > below ? bytes - below : 0;
}

// At most. The copy of a shared page is a fault without growth, the first touch of a huge page one fault for much
// growth.
std::uint64_t new_bytes(const sys::TreeSample& before, const sys::TreeSample& now)
{
    return above(now.minor_faults, before.minor_faults) * sys::page_size() +
           above(now.working_set_bytes, before.working_set_bytes);
}

}  // namespace

bool SharedPages::is_walk_due(const sys::TreeSample& now, std::uint64_t above_bytes, TimePoint at)
{
    const bool rests = new_bytes(before_, now) <= now.working_set_bytes / resting;
    before_ = now;
    if (now.sharers.empty() || most_bytes(now) <= above_bytes) {
        wanted_since_.reset();
        return false;
    }
    if (at < not_before_) {
        return false;
    }
    wanted_since_ = wanted_since_.value_or(at);
    return rests || at >= *wanted_since_ + patience;
}

void SharedPages::walked(const sys::TreeSample& now, std::uint64_t bytes, TimePoint not_again_before)
{
    walk_ = Walk{now, bytes};
    not_before_ = not_again_before;
    wanted_since_.reset();
}

std::optional<std::uint64_t> SharedPages::least_bytes(const sys::TreeSample& now) const
{
    if (now.sharers.empty()) {
        return now.working_set_bytes;
    }
    const bool shares_nothing_new =
        walk_ && !now.several_have_shared_memory && std::ranges::includes(walk_->sample.sharers, now.sharers);
    if (!shares_nothing_new) {
        return std::nullopt;
    }
    const std::uint64_t counted_twice = above(walk_->sample.working_set_bytes, walk_->bytes);
    return above(now.working_set_bytes, counted_twice);
}

std::uint64_t SharedPages::most_bytes(const sys::TreeSample& now) const
{
    return walk_ ? std::min(now.working_set_bytes, walk_->bytes + new_bytes(walk_->sample, now))
                 : now.working_set_bytes;
}

}  // namespace memsweep::engine
