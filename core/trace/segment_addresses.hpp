// Guesses where CUDA's driver would put a new segment (memory that PyTorch reserves from the driver). The guess follows
// the places where the driver has put the segments of a trace. The guess is needed because the addresses of segments
// decide how much memory PyTorch reserves: if several cached blocks have the same size, PyTorch takes the one with the
// lowest address.
//
// The rule was derived from five recorded runs (CUDA 13, H200). A segment goes to the lowest hole (free range of
// addresses) that is large enough. If no hole is large enough, the driver reserves a multiple of 32 MiB below all
// earlier reservations. If a recorded segment lies in no such reservation, its place is assumed to have been a hole
// from the start. Simulated segments get the recorded addresses as long as they have the recorded sizes and none has
// been given back.
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

// A set of address ranges. Adjacent ranges become one.
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
    // `recorded`: the segments of a trace, in the order in which they were taken. They must outlive this object.
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
    std::uint64_t low_{};   // the lowest reserved address
    std::uint64_t high_{};  // the next address, when the lower ones are used up
};

}  // namespace memsweep::trace
