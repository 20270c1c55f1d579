// What one minor fault of each kind costs a program that fills the page, measured on this machine now.
//
// A program seldom touches one byte of a page: it writes it whole, and finds it in the cache after the kernel has
// cleared it. So each cost is that of writing 16 MiB whole while every page faults, less that of writing them again,
// per fault. One byte per page gave 119 to 139 % of what a concatenation into fresh pages lost, whole pages 80 to 105 %
// (2-core Xeon VM, 31 rounds each).
//
// Units    seconds; pages as the kernel faults them: base pages, or huge ones.
// Cost     six rounds of two passes over 16 MiB, 20 to 60 ms a kind; the first round does not count.
// Errors   os: memory is refused; not_supported: the kernel gave no huge pages.
#pragma once

#include <cstdint>

#include "core/base/expected.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::sys {

enum class FaultKind : std::uint8_t {
    small_page,    // private memory, first touch of a base page
    huge_page,     // private memory, first touch of a transparent huge page
    shared_page,   // shared memory, first touch of a base page: it is made
    shared_again,  // shared memory, the page is there and only its page-table entry is missing
};

struct FaultCost {
    double seconds_per_fault{};          // median of the rounds
    double fastest_seconds_per_fault{};  // the best round: the machine undisturbed
    std::uint64_t faults{};              // per round
};

[[nodiscard]] base::Expected<FaultCost> measure_fault_cost(const Clock& clock,
                                                           FaultKind kind = FaultKind::small_page) noexcept;

}  // namespace memsweep::sys
