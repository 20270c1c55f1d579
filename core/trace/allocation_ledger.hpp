// Counts blocks and bytes for each of several accounts while a trace is read: those allocated, those live at the
// trace's peak, and those live at its end. An account, such as a call site, is a small number that the caller chooses.
//
// Units    bytes, counts.
// Cost     some ns per block.
// Memory   88 bytes for each number from 0 to the largest account.
// Threads  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memsweep::trace {

struct AllocationFigures {
    std::uint64_t allocations{};
    std::uint64_t bytes_allocated{};
    std::uint64_t temporary{};       // allocations that the thread freed in its next call to the allocator
    std::uint64_t peak_bytes{};      // live at the trace's peak
    std::uint64_t peak_blocks{};     // likewise
    std::uint64_t end_bytes{};       // live at the end of the trace, or when their process ended
    std::uint64_t end_blocks{};      // likewise
    std::uint64_t own_peak_bytes{};  // the most bytes of this account that were live at any time
    friend bool operator==(const AllocationFigures&, const AllocationFigures&) = default;
};

// Adds all members of `figures` to `sum` except own_peak_bytes, because accounts reach their own peaks at different
// times.
void add(AllocationFigures& sum, const AllocationFigures& figures);

class AllocationLedger {
  public:
    // How many blocks and bytes a block counts for: a sampled block stands for several blocks.
    struct Weight {
        std::uint64_t count{1};  // number of blocks, multiplied by the constructor's `unit`
        std::uint64_t bytes{};   // bytes of all these blocks
    };

    explicit AllocationLedger(std::uint64_t unit = 1) : unit_{unit} {}
    void make(std::uint32_t number, const Weight& weight);
    void free(std::uint32_t number, const Weight& weight, bool is_temporary);
    // Call for each block that is still live when its process ends. The block is no longer live, but counts in
    // end_bytes and end_blocks.
    void abandon(std::uint32_t number, const Weight& weight);
    // Call when the trace has reached a new peak: the bytes and blocks that are live now become peak_bytes and
    // peak_blocks.
    void begin_peak() { ++peak_; }

    [[nodiscard]] std::size_t count() const noexcept { return accounts_.size(); }
    [[nodiscard]] AllocationFigures figures(std::uint32_t number) const;
    [[nodiscard]] std::vector<AllocationFigures> all() const;

  private:
    struct Held {
        std::uint64_t bytes{};
        std::uint64_t blocks{};
    };
    struct Account {
        std::uint64_t allocations{};
        std::uint64_t bytes_allocated{};
        std::uint64_t temporary{};
        Held live;
        Held at_peak;  // what was live at peak number `seen_peak`; at all later peaks, that is `live`
        Held abandoned;
        std::uint64_t own_peak_bytes{};
        std::uint64_t seen_peak{};
    };
    Account& changing(std::uint32_t number);

    std::vector<Account> accounts_;
    std::uint64_t peak_{};
    std::uint64_t unit_;
};

}  // namespace memsweep::trace
