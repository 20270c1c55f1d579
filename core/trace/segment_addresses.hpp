// Guesses where CUDA's driver would put a new segment, from the places where it has put the segments of a trace.
// PyTorch takes the cached block with the lowest address among those of one size. So the amount that it reserves
// depends on the addresses.
//
// The rule was read off five recorded runs (CUDA 13, H200): a segment goes to the lowest hole that fits. If there is
// none, a multiple of 32 MiB is reserved below all others. If a recorded segment cannot have been such a reservation,
// there was a hole from the start. Simulated segments get the recorded addresses as long as their sizes are those of
// the trace and none has been given back.
//
// Units    bytes.
// Cost     some 100 ns a segment.
// Memory   80 bytes a hole, 50 a segment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/trace/placement.hpp"

namespace memsweep::trace {

struct SegmentPlace {
    std::uint64_t address{};
    std::uint64_t size{};
};

// Ranges of addresses. Ranges that touch become one.
class AddressRanges {
  public:
    void add(std::uint64_t begin, std::uint64_t size);
    void cut(std::uint64_t begin, std::uint64_t size);
    [[nodiscard]] bool contains(std::uint64_t begin, std::uint64_t size) const;
    [[nodiscard]] bool overlaps(std::uint64_t begin, std::uint64_t size) const;
    [[nodiscard]] std::optional<std::uint64_t> first_fit(std::uint64_t size) const;

  private:
    void insert(std::uint64_t begin, std::uint64_t end);
    std::map<std::uint64_t, std::uint64_t>::iterator erase(std::map<std::uint64_t, std::uint64_t>::iterator at);

    std::map<std::uint64_t, std::uint64_t> ends_;  // by begin
    HoleIndex<ByAddress> holes_;
};

class SegmentAddresses {
  public:
    // The segments of a trace, in the order in which they were taken. They outlive it.
    explicit SegmentAddresses(std::span<const SegmentPlace> recorded);

    [[nodiscard]] std::uint64_t take(std::uint64_t size);
    void give_back(std::uint64_t address, std::uint64_t size);

  private:
    void reserve(std::uint64_t begin, std::uint64_t size);

    std::span<const SegmentPlace> recorded_;
    std::size_t next_{};
    bool follows_{true};
    AddressRanges holes_;
    AddressRanges taken_;
    std::uint64_t low_{};   // of all reservations
    std::uint64_t high_{};  // where the addresses below are used up
};

}  // namespace memsweep::trace
