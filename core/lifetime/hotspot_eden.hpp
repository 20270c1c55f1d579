// Computes the size that HotSpot gives eden, from the size of the heap. It is the size that `-Xlog:gc+heap` reports for
// a program that calls System.gc() once before its work.
//
// Sources  OpenJDK 17, share/gc/serial/defNewGeneration.cpp (compute_new_size), share/gc/g1/g1Policy.cpp and
//          g1HeapSizingPolicy.cpp, and the logs of 65 runs with heaps of 32 MiB to 1 GiB. G1 also decides by times that
//          it measures, so the sizes before its first collections are taken from the logs. Not modelled: a heap with
//          -Xms grows if collections take more than a few percent of the time.
// Units    bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/model/specs.hpp"

namespace memsweep::lifetime {

// Eden under -XX:+UseSerialGC. The young generation is a third of the heap. Each of two survivor spaces takes a tenth
// of the young generation, and eden takes the rest. If the heap may grow, the first full collection computes the size
// of the young generation anew from that of the old one.
[[nodiscard]] constexpr std::uint64_t serial_eden(const model::HeapSizes& heap)
{
    constexpr std::uint64_t unit = 64U << 10U;  // sizes of generations are multiples of this
    constexpr std::uint64_t per_thread = 5320;  // NewSizeThreadIncrease, for the program's one thread
    constexpr auto whole = [](std::uint64_t bytes) { return bytes / unit * unit; };
    std::uint64_t young = whole(heap.initial / 3);
    if (heap.max > heap.initial) {
        const std::uint64_t wanted = whole((heap.initial - young) / 2 + per_thread + unit - 1);
        young = std::clamp(wanted, young, whole(heap.max / 3));
    }
    return young - 2 * whole(young / 10);
}

// Eden under -XX:+UseG1GC: the number of its regions before each young collection. Collections are numbered from 0.
class G1Eden {
  public:
    // `per_array`: the bytes of a region that each array takes.
    constexpr G1Eden(const model::HeapSizes& heap, std::uint64_t region, std::uint64_t per_array) noexcept
        : arrays_{per_array > region * 3 / 10 ? Arrays::very_large
                  : per_array > region / 8    ? Arrays::large
                                              : Arrays::small},
          initial_{heap.initial / region}, start_{std::min(initial_, std::max(heap.min / region, least))},
          per_region_{std::max<std::uint64_t>(region >> 20U, 1)}
    {
    }

    // Whether the heap shrinks in a collection that the program asks for. Such a collection returns the memory above
    // -Xms.
    [[nodiscard]] constexpr bool shrinks() const noexcept { return start_ < initial_; }

    [[nodiscard]] constexpr std::uint64_t regions(std::uint64_t collection) const noexcept
    {
        return shrinks() ? of_a_shrunk_heap(collection) : of_a_whole_heap(collection);
    }

  private:
    static constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    // Three regions are in use. MaxHeapFreeRatio, 70 %, lets the heap keep seven free regions in addition.
    static constexpr std::uint64_t least = 10;
    // The regions of eden before the first six collections after the heap was shrunk. Until G1 knows that little
    // survives, it reserves space for many survivors. It grows the heap after four collections have taken more than 1 %
    // of the time, which happens at about the sixth collection.
    using Cautious = std::array<std::uint64_t, 6>;
    enum class Arrays : std::uint8_t { small, large, very_large };  // by the part of a region that an array fills
    static constexpr Cautious of_small_arrays{2, 2, 2, 3, 4, all};
    static constexpr Cautious of_large_arrays{2, 1, 2, 2, 3, all};
    static constexpr Cautious of_very_large_arrays{2, 1, 1, 1, 1, 43};
    static constexpr Cautious of_large_regions{1, 1, 2, 4, 4, all};  // regions of 4 MiB and more

    [[nodiscard]] constexpr const Cautious& logged() const noexcept
    {
        if (per_region_ >= 4) {
            return of_large_regions;
        }
        return arrays_ == Arrays::small   ? of_small_arrays
               : arrays_ == Arrays::large ? of_large_arrays
                                          : of_very_large_arrays;
    }

    // The most regions of eden: 60 % of all (G1MaxNewSizePercent), less one for survivors.
    [[nodiscard]] static constexpr std::uint64_t most(std::uint64_t regions) noexcept
    {
        return std::max<std::uint64_t>(regions * 6 / 10, 2) - 1;
    }

    // The first two sizes of eden follow from the cost that G1 expects of collections, or from G1NewSizePercent, 5 %.
    // After that eden has the largest size that is allowed.
    [[nodiscard]] constexpr std::uint64_t of_a_whole_heap(std::uint64_t collection) const noexcept
    {
        const std::uint64_t first = std::max({6 / per_region_, initial_ / 20, std::uint64_t{1}});
        const std::uint64_t second = first + std::max<std::uint64_t>(7 / per_region_, 4);
        const std::uint64_t wanted = collection == 0 ? first : collection == 1 ? second : most(initial_);
        return std::min(wanted, most(initial_));
    }

    [[nodiscard]] constexpr std::uint64_t of_a_shrunk_heap(std::uint64_t collection) const noexcept
    {
        const std::uint64_t grown = start_ + (initial_ - start_) / 2;  // half way back to the size before it was shrunk
        const std::uint64_t may_have = most(collection < logged().size() - 1 ? start_ : grown);
        return collection < logged().size() ? std::min(logged().at(collection), may_have) : may_have;
    }

    Arrays arrays_;
    std::uint64_t initial_;
    std::uint64_t start_;       // regions after the program's first System.gc()
    std::uint64_t per_region_;  // MiB
};

}  // namespace memsweep::lifetime
