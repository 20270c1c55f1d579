// Keeps the address ranges that are mapped at one point of a trace. The ranges do not overlap: a new mapping replaces
// those parts of older ranges that have the same addresses. If a part of a range is unmapped, the rest of the range
// stays.
//
// Units    bytes.
// Cost     some 100 ns per operation, and 100 ns more for each range that the operation changes.
// Memory   some 80 bytes per range.
// Threads  one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace memsweep::trace {

class MappedRanges {
  public:
    // Ordered by process, then space, then address.
    struct Place {
        std::uint32_t process{};
        std::uint32_t space{};
        std::uint64_t begin{};
        friend auto operator<=>(const Place&, const Place&) = default;
    };
    struct Range {
        std::uint64_t end{};
        std::uint32_t tag{};  // a value of the caller
    };

    // Maps `bytes` bytes from `at` on. For each range, or part of a range, that this mapping replaces, calls visit()
    // with its size in bytes and its tag.
    template <typename Visit>
    void insert(const Place& at, std::uint64_t bytes, std::uint32_t tag, Visit visit)
    {
        remove(at, bytes, visit);
        ranges_[at] = {at.begin + bytes, tag};
    }

    template <typename Visit>
    void remove(const Place& at, std::uint64_t bytes, Visit visit)
    {
        const std::uint64_t end = at.begin + bytes;
        auto range = first_behind(at);
        while (range != ranges_.end() && range->first.process == at.process && range->first.space == at.space &&
               range->first.begin < end) {
            const auto [place, held] = *range;
            range = ranges_.erase(range);
            if (place.begin < at.begin) {
                ranges_[place] = {at.begin, held.tag};
            }
            if (held.end > end) {
                ranges_[{at.process, at.space, end}] = {held.end, held.tag};
            }
            visit(std::min(held.end, end) - std::max(place.begin, at.begin), held.tag);
        }
    }

    // Removes the whole range that begins at `at`, and calls visit() for it. Does nothing if no range begins there.
    template <typename Visit>
    void remove_whole(const Place& at, Visit visit)
    {
        if (const auto found = ranges_.find(at); found != ranges_.end()) {
            const auto [place, held] = *found;
            ranges_.erase(found);
            visit(held.end - place.begin, held.tag);
        }
    }

    template <typename Visit>
    void remove_process(std::uint32_t process, Visit visit)
    {
        auto range = ranges_.lower_bound({process, 0, 0});
        while (range != ranges_.end() && range->first.process == process) {
            visit(range->second.end - range->first.begin, range->second.tag);
            range = ranges_.erase(range);
        }
    }

    [[nodiscard]] std::size_t count() const noexcept { return ranges_.size(); }
    [[nodiscard]] const std::map<Place, Range>& all() const noexcept { return ranges_; }

  private:
    // Returns the range that contains `at`. If no range contains it, returns the first range behind `at`.
    std::map<Place, Range>::iterator first_behind(const Place& at)
    {
        auto range = ranges_.upper_bound(at);
        if (range == ranges_.begin()) {
            return range;
        }
        const auto before = std::prev(range);
        const bool holds =
            before->first.process == at.process && before->first.space == at.space && before->second.end > at.begin;
        return holds ? before : range;
    }

    std::map<Place, Range> ranges_;
};

}  // namespace memsweep::trace
