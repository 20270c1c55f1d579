// Holes in the bins of a two-level segregated fit: powers of two, each in 32 parts; the last hole freed comes first.
//
// Sources  Masmano, Ripoll, Crespo, Real: "TLSF: a new dynamic memory allocator for real-time systems", ECRTS 2004.
// Cost     constant: 10 ns.
// Memory   16 bytes a segment.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/trace/hole_index.hpp"
#include "core/trace/segments.hpp"

namespace memsweep::trace {

class TlsfIndex {
  public:
    TlsfIndex() { heads_.fill(no_segment); }

    void insert(const Hole& hole)
    {
        if (hole.segment >= links_.size()) {
            links_.resize(std::size_t{hole.segment} * 2 + 64);
        }
        const unsigned bin = bin_of(hole.size);
        links_[hole.segment] = {hole, no_segment, heads_[bin]};
        if (heads_[bin] != no_segment) {
            links_[heads_[bin]].previous = hole.segment;
        }
        heads_[bin] = hole.segment;
        used_[bin / 64] |= 1ULL << (bin % 64);
    }

    void remove(const Hole& hole)
    {
        const unsigned bin = bin_of(hole.size);
        const Link& link = links_[hole.segment];
        (link.previous == no_segment ? heads_[bin] : links_[link.previous].next) = link.next;
        if (link.next != no_segment) {
            links_[link.next].previous = link.previous;
        }
        if (heads_[bin] == no_segment) {
            used_[bin / 64] &= ~(1ULL << (bin % 64));
        }
    }

    void replace(const Hole& hole, const Hole& by)
    {
        remove(hole);
        insert(by);
    }

    // From the first bin all of whose holes are large enough.
    [[nodiscard]] const Hole* first_fit(std::uint64_t size) const
    {
        const std::uint64_t step = size < parts ? 1 : 1ULL << (std::bit_width(size) - 1 - parts_log2);
        if (size > ~0ULL - step) {
            return nullptr;
        }
        return head_from(bin_of(size + step - 1));
    }

    [[nodiscard]] std::uint64_t largest() const
    {
        std::uint64_t largest = 0;
        for (std::size_t word = used_.size(); word-- > 0;) {
            if (used_[word] == 0) {
                continue;
            }
            const std::size_t bin = word * 64 + static_cast<std::size_t>(std::bit_width(used_[word])) - 1;
            for (std::uint32_t at = heads_[bin]; at != no_segment; at = links_[at].next) {
                largest = std::max(largest, links_[at].hole.size);
            }
            break;
        }
        return largest;
    }

  private:
    static constexpr unsigned parts_log2 = 5;
    static constexpr unsigned parts = 1U << parts_log2;
    static constexpr unsigned bins = 64 * parts;

    struct Link {
        Hole hole;
        std::uint32_t previous{no_segment};
        std::uint32_t next{no_segment};
    };

    static unsigned bin_of(std::uint64_t size)
    {
        if (size < parts) {
            return static_cast<unsigned>(size);
        }
        const auto level = static_cast<unsigned>(std::bit_width(size)) - 1;
        return (level - parts_log2 + 1) * parts + static_cast<unsigned>((size >> (level - parts_log2)) - parts);
    }
    [[nodiscard]] const Hole* head_from(unsigned bin) const
    {
        std::uint64_t word = used_[bin / 64] & (~0ULL << (bin % 64));
        for (std::size_t at = bin / 64;;) {
            if (word != 0) {
                return &links_[heads_[at * 64 + static_cast<std::size_t>(std::countr_zero(word))]].hole;
            }
            if (++at == used_.size()) {
                return nullptr;
            }
            word = used_[at];
        }
    }

    std::array<std::uint32_t, bins> heads_{};
    std::array<std::uint64_t, bins / 64> used_{};
    std::vector<Link> links_;
};

}  // namespace memsweep::trace
