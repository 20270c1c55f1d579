#include "core/lifetime/count_triggers.hpp"

#include <utility>

namespace memsweep::lifetime {

Due CycleCounts::before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept
{
    young_ += spec_.containers_per_array;
    return young_ + spec_.temporary_containers > spec_.generation0 ? Due::now : Due::no;
}

// The array being made is the first of the new young generation.
void CycleCounts::collected(const Collection& collection) noexcept
{
    young_ = collection.asked_for ? 0 : spec_.containers_per_array;
    if (collection.asked_for) {
        since_ = {};
        ++collections_[2];
    } else {
        choose_generation();
    }
}

void CycleCounts::choose_generation() noexcept
{
    ++passed_on_;
    if (since_[1] > spec_.generation2 && passed_on_ > long_lived_ / 4) {
        since_ = {};
        long_lived_ += std::exchange(passed_on_, 0);
        ++collections_[2];
    } else if (since_[0] > spec_.generation1) {
        since_[0] = 0;
        ++since_[1];
        ++collections_[1];
    } else {
        ++since_[0];
        ++collections_[0];
    }
}

}  // namespace memsweep::lifetime
