// The young generation of the JVM's G1 collector, for a heap of a given size. If the objects of the next array no
// longer fit eden, a collection comes before the array is made. Objects do not cross regions. Small objects, and larger
// ones if they fit, lie in a thread-local buffer. The space that is left in a full region serves a later buffer.
//
// Sources  OpenJDK 17, share/gc/g1/g1AllocRegion.cpp (MutatorAllocRegion, with its retained region) and
//          share/gc/shared/threadLocalAllocBuffer.cpp. A buffer is a 50th of eden, at most half a region. If one of the
//          larger objects does not fit the buffer, the buffer is replaced only if at most a 64th of it is left.
// Units    bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/lifetime/hotspot_eden.hpp"
#include "core/lifetime/triggers.hpp"
#include "core/model/specs.hpp"

namespace memsweep::lifetime {

class G1Young final : public Trigger {
  public:
    // budget.heap and budget.region must be set.
    explicit G1Young(const model::ManagedBudget& budget) noexcept
        : eden_{budget.heap, budget.region, budget.bytes_per_array + budget.garbage}, region_{budget.region},
          small_{budget.bytes_per_array}, large_{budget.garbage == 0 ? 0 : budget.garbage + budget.header}
    {
        begin_eden();
        // Of the memory that a program has used before its first array, this many bytes lie outside of eden.
        constexpr std::uint64_t beside = 350'000;
        static_cast<void>(make_small(budget.used_at_start - std::min(budget.used_at_start, beside)));
    }

    [[nodiscard]] Due before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept override
    {
        asked_ = !make_array();
        return asked_ ? Due::now : Due::no;
    }

    // After the collection, the array that asked for it is the first one in the empty eden.
    void collected(const Collection& /*collection*/) noexcept override
    {
        const bool full = std::exchange(asked_, false);
        if (full) {
            ++collections_;
        } else if (eden_.shrinks()) {
            collections_ = 0;
        }
        begin_eden();
        if (full) {
            static_cast<void>(make_array());
        }
    }

  private:
    // False: an object of the array does not fit eden.
    [[nodiscard]] bool make_array() noexcept { return make_small(small_) && (large_ == 0 || make_large()); }

    void begin_eden() noexcept
    {
        const std::uint64_t regions = eden_.regions(collections_);
        regions_ = regions - 1;
        current_ = region_;
        retained_ = 0;
        buffer_ = 0;
        buffer_size_ = std::min(regions * region_ / 50, region_ / 2);
    }

    [[nodiscard]] bool make_small(std::uint64_t bytes) noexcept
    {
        while (bytes != 0) {
            if (buffer_ == 0 && !take_buffer(1)) {
                return false;
            }
            const std::uint64_t fits = std::min(bytes, buffer_);
            buffer_ -= fits;
            bytes -= fits;
        }
        return true;
    }

    [[nodiscard]] bool make_large() noexcept
    {
        if (large_ > region_ / 2) {  // such an object gets regions of its own
            const std::uint64_t own = (large_ + region_ - 1) / region_;
            const bool fits = own <= regions_;
            regions_ -= fits ? own : 0;
            return fits;
        }
        if (buffer_ < large_) {
            if (buffer_ > buffer_size_ / 64) {
                return take_outside();
            }
            if (!take_buffer(large_)) {
                return false;
            }
        }
        buffer_ -= std::min(buffer_, large_);
        return true;
    }

    [[nodiscard]] bool take_outside() noexcept
    {
        if (retained_ >= large_) {
            retained_ -= large_;
            return true;
        }
        if (current_ < large_ && !take_region()) {
            return false;
        }
        current_ -= large_;
        return true;
    }

    // Takes a buffer of at least `least` bytes.
    [[nodiscard]] bool take_buffer(std::uint64_t least) noexcept
    {
        const std::uint64_t wanted = std::max(least, smallest_buffer);
        if (retained_ < wanted && current_ < wanted && !take_region()) {
            return false;
        }
        std::uint64_t& from = retained_ >= wanted ? retained_ : current_;
        buffer_ = std::min(from, std::max(buffer_size_, least));
        from -= buffer_;
        return true;
    }

    [[nodiscard]] bool take_region() noexcept
    {
        if (regions_ == 0) {
            return false;
        }
        --regions_;
        retained_ = std::max(retained_, current_);
        current_ = region_;
        return true;
    }

    static constexpr std::uint64_t smallest_buffer = 2048;

    G1Eden eden_;
    std::uint64_t region_;
    std::uint64_t small_;  // per array
    std::uint64_t large_;  // one per array; 0: none
    bool asked_{};
    std::uint64_t collections_{};  // those that came because eden was full, since the heap was last shrunk
    std::uint64_t regions_{};      // free regions
    std::uint64_t current_{};      // free bytes in the region that is being filled
    std::uint64_t retained_{};     // the most free bytes in an earlier region
    std::uint64_t buffer_{};       // free bytes in the thread's buffer
    std::uint64_t buffer_size_{};
};

}  // namespace memsweep::lifetime
