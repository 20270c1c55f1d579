// Counts what is allocated, freed and live at the peak while the events of a trace go by. Accounts are small numbers
// that the caller chooses.
//
// Units    bytes, counts.
// Cost     some ns a block.
// Memory   88 bytes a number.
// Threads  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace memsweep::trace {

struct AllocationFigures {
    std::uint64_t allocations{};
    std::uint64_t bytes_allocated{};
    std::uint64_t temporary{};   // allocations
    std::uint64_t peak_bytes{};  // live at the trace's peak
    std::uint64_t peak_blocks{};
    std::uint64_t end_bytes{};  // live at the end of the trace, or when their process ended
    std::uint64_t end_blocks{};
    std::uint64_t own_peak_bytes{};  // the most that this number itself had live at any time
    friend bool operator==(const AllocationFigures&, const AllocationFigures&) = default;
};

// Adds all but the own peak, which has no sum.
void add(AllocationFigures& sum, const AllocationFigures& figures);

// Figures by small numbers, while the events go by.
class AllocationLedger {
  public:
    // How often a block counts, in parts of `unit`, and for how many bytes.
    struct Weight {
        std::uint64_t count{1};
        std::uint64_t bytes{};
    };

    explicit AllocationLedger(std::uint64_t unit = 1) : unit_{unit} {}
    void make(std::uint32_t number, const Weight& weight);
    void free(std::uint32_t number, const Weight& weight, bool is_temporary);
    // The block's process has ended: the block was live at the end, and is live no more.
    void abandon(std::uint32_t number, const Weight& weight);
    // A new peak: what is live now counts as live at the peak, until the next call.
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
        Held at_peak;  // of the peak number `seen_peak`; a later one finds what is live
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
