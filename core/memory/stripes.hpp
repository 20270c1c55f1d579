// Idle blocks in buckets by thread number: a thread puts into its own bucket and looks there first, then in the others.
// What does not fit is not kept.
//
// Sources  the topology of DotCompute's object pool.
// Cost     one lock, uncontended while threads have buckets of their own; a miss looks at every bucket.
// Memory   8 bytes per block that was ever kept; blocks themselves are not touched.
// Threads  any.
// Ownership  what is kept is the pool's to free.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/memory/depot.hpp"

namespace memsweep::memory {

class Stripes {
  public:
    // `blocks`: the most that a bucket may keep of any class.
    Stripes(std::uint32_t stripes, std::uint32_t classes, std::uint32_t blocks);

    struct Taken {
        void* ptr{};
        bool own{};  // it lay in this thread's bucket
    };
    [[nodiscard]] Taken take(std::uint32_t index) noexcept;
    [[nodiscard]] bool put(std::uint32_t index, void* block, std::uint32_t capacity) noexcept;

    [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept;

  private:
    [[nodiscard]] std::size_t own_stripe() const noexcept;

    std::vector<std::unique_ptr<Depot>> depots_;
};

}  // namespace memsweep::memory
