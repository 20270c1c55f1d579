// What is allocated, freed and live at a peak, by small numbers, while the events of a trace go by.
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
    std::uint64_t own_peak_bytes{};  // the most that was live of it at any time
    friend bool operator==(const AllocationFigures&, const AllocationFigures&) = default;
};

// Adds all but the own peak, which has no sum.
void add(AllocationFigures& sum, const AllocationFigures& figures);

// Figures by small numbers, while the events go by.
class AllocationLedger {
  public:
    // How often a block counts, in parts of `unit`, and what it counts for in bytes.
    struct Weight {
        std::uint64_t count{1};
        std::uint64_t bytes{};
    };

    explicit AllocationLedger(std::uint64_t unit = 1) : unit_{unit} {}
    void make(std::uint32_t number, const Weight& weight);
    void free(std::uint32_t number, const Weight& weight, bool is_temporary);
    // Its process is over: it is live no more, and was at the end.
    void abandon(std::uint32_t number, const Weight& weight);
    // What is live now is live at the peak, until there is another.
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
