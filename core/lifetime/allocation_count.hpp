// A collection before an allocation when a given number were made since the last one.
#pragma once

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

class AllocationCount final : public Trigger {
  public:
    explicit AllocationCount(std::uint64_t every) noexcept : every_{every} {}

    [[nodiscard]] Due before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept override
    {
        return since_++ >= every_ ? Due::now : Due::no;
    }
    void collected(const Collection& collection) noexcept override { since_ = collection.asked_for ? 0 : 1; }

  private:
    std::uint64_t every_;
    std::uint64_t since_{};
};

}  // namespace memsweep::lifetime
