#include "core/trace/segment_addresses.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace memsweep::trace {
namespace {

constexpr std::uint64_t reservation = 32ULL << 20U;
constexpr std::uint64_t usual_low = 1ULL << 46U;  // where nothing is recorded
constexpr std::uint64_t most_address = 1ULL << 62U;

bool is_possible(const SegmentPlace& segment)
{
    return segment.size != 0 && segment.size < most_address && segment.address < most_address;
}

}  // namespace

std::map<std::uint64_t, std::uint64_t>::iterator
AddressRanges::erase(std::map<std::uint64_t, std::uint64_t>::iterator at)
{
    holes_.remove({at->first, at->second - at->first, 0});
    return ends_.erase(at);
}

void AddressRanges::insert(std::uint64_t begin, std::uint64_t end)
{
    ends_.emplace(begin, end);
    holes_.insert({begin, end - begin, 0});
}

void AddressRanges::add(std::uint64_t begin, std::uint64_t size)
{
    if (size == 0) {
        return;
    }
    std::uint64_t end = begin + size;
    auto at = ends_.upper_bound(begin);
    if (at != ends_.begin() && std::prev(at)->second >= begin) {
        --at;
    }
    while (at != ends_.end() && at->first <= end) {
        begin = std::min(begin, at->first);
        end = std::max(end, at->second);
        at = erase(at);
    }
    insert(begin, end);
}

void AddressRanges::cut(std::uint64_t begin, std::uint64_t size)
{
    const std::uint64_t end = begin + size;
    auto at = ends_.upper_bound(begin);
    if (at != ends_.begin() && std::prev(at)->second > begin) {
        --at;
    }
    while (at != ends_.end() && at->first < end) {
        const auto [first, last] = *at;
        at = erase(at);
        if (first < begin) {
            insert(first, begin);
        }
        if (last > end) {
            insert(end, last);
        }
    }
}

bool AddressRanges::contains(std::uint64_t begin, std::uint64_t size) const
{
    const auto after = ends_.upper_bound(begin);
    return after != ends_.begin() && std::prev(after)->second >= begin + size;
}

bool AddressRanges::overlaps(std::uint64_t begin, std::uint64_t size) const
{
    const auto after = ends_.upper_bound(begin);
    return (after != ends_.begin() && std::prev(after)->second > begin) ||
           (after != ends_.end() && after->first < begin + size);
}

std::optional<std::uint64_t> AddressRanges::first_fit(std::uint64_t size) const
{
    const Hole* const hole = holes_.first_fit(size);
    return hole == nullptr ? std::nullopt : std::optional{hole->address};
}

SegmentAddresses::SegmentAddresses(std::span<const SegmentPlace> recorded)
    : recorded_{recorded}, low_{usual_low}, high_{most_address}
{
    AddressRanges reserved;
    std::uint64_t lowest = ~0ULL;
    std::uint64_t lowest_reservation = ~0ULL;
    std::uint64_t highest_end = 0;
    for (const SegmentPlace& segment : recorded) {
        if (!is_possible(segment)) {
            continue;
        }
        if (reserved.contains(segment.address, segment.size)) {
            reserved.cut(segment.address, segment.size);
        } else if (segment.address % reservation == 0 && segment.address < lowest) {
            const std::uint64_t bytes = rounded_up(segment.size, reservation);
            reserved.add(segment.address + segment.size, bytes - segment.size);
            lowest_reservation = std::min(lowest_reservation, segment.address);
            highest_end = std::max(highest_end, segment.address + bytes);
        } else {
            holes_.add(segment.address, segment.size);
        }
        lowest = std::min(lowest, segment.address);
    }
    if (highest_end != 0) {
        low_ = highest_end;
    } else if (lowest != ~0ULL) {
        low_ = lowest / reservation * reservation;
    }
}

void SegmentAddresses::reserve(std::uint64_t begin, std::uint64_t size)
{
    holes_.cut(begin, size);
    taken_.add(begin, size);
}

std::uint64_t SegmentAddresses::take(std::uint64_t size)
{
    follows_ = follows_ && next_ < recorded_.size() && recorded_[next_].size == size && is_possible(recorded_[next_]) &&
               !taken_.overlaps(recorded_[next_].address, size);
    if (follows_) {
        const std::uint64_t address = recorded_[next_++].address;
        if (!holes_.contains(address, size)) {
            low_ = std::min(low_, address / reservation * reservation);
            if (address % reservation == 0) {
                holes_.add(address, rounded_up(size, reservation));
            }
        }
        reserve(address, size);
        return address;
    }
    std::optional<std::uint64_t> address = holes_.first_fit(size);
    if (!address) {
        const std::uint64_t bytes = rounded_up(size, reservation);
        std::uint64_t& end = low_ >= bytes ? low_ : high_;
        address = low_ >= bytes ? end -= bytes : std::exchange(end, end + bytes);
        holes_.add(*address, bytes);
    }
    reserve(*address, size);
    return *address;
}

void SegmentAddresses::give_back(std::uint64_t address, std::uint64_t size)
{
    follows_ = false;  // the recorded run had no hole there
    taken_.cut(address, size);
    holes_.add(address, size);
}

}  // namespace memsweep::trace
