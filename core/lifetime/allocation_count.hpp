// A collection before an allocation when a given number were made since the last one.
#pragma once

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

class AllocationCount final : public Trigger {
  public:
    explicit AllocationCount(std::uint64_t every) noexcept : every_{every} {}

    // The count starts again with the allocation that asks, not when its collection is over: until then other threads
    // would ask for the same one.
    [[nodiscard]] Due before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept override
    {
        if (since_ < every_) {
            ++since_;
            return Due::no;
        }
        since_ = 1;
        ++asked_;
        return Due::now;
    }

    void collected(const Collection& collection) noexcept override
    {
        if (collection.asked_for) {
            since_ = 0;
        } else if (asked_ == 0) {
            since_ = 1;  // another trigger's
        } else {
            --asked_;
        }
    }

  private:
    std::uint64_t every_;
    std::uint64_t since_{};
    std::uint64_t asked_{};  // collections that are not over yet
};

}  // namespace memsweep::lifetime
