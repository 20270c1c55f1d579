// The second tier of a pool: a bounded stack of blocks per class, from which the caches of threads are filled and into
// which they overflow, several blocks at a time.
//
// Cost     one uncontended lock of the class per batch.
// Memory   8 bytes per block that was ever kept; blocks themselves are not touched.
// Threads  any; each class has a lock of its own.
// Ownership  what is kept is the pool's to free.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/memory/lazy_array.hpp"

namespace memsweep::memory {

class Depot {
  public:
    // `blocks`: the most that may be kept of any class.
    Depot(std::uint32_t classes, std::uint32_t blocks)
        : stride_{blocks}, shelves_{std::make_unique<Shelf[]>(classes)}, blocks_{std::size_t{classes} * blocks + 1}
    {
    }

    // The newest blocks of the class, as many as fit into `into`. Returns how many there were.
    [[nodiscard]] std::uint32_t take(std::uint32_t index, std::span<void*> into) noexcept;

    // Keeps as many of them, from the front, as make `capacity` in all. Returns how many.
    [[nodiscard]] std::uint32_t put(std::uint32_t index, std::span<void* const> blocks,
                                    std::uint32_t capacity) noexcept;

    // What nobody needed since the last call: as many blocks as there were at the least, oldest first, as many as fit.
    [[nodiscard]] std::uint32_t take_unused(std::uint32_t index, std::span<void*> into) noexcept;

    [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept;

  private:
    struct Shelf {
        mutable std::mutex mutex;
        std::uint32_t count{};
        std::uint32_t least{};  // count, at its lowest since take_unused
    };

    std::uint32_t stride_;
    std::unique_ptr<Shelf[]> shelves_;
    LazyArray<void*> blocks_;
};

}  // namespace memsweep::memory
