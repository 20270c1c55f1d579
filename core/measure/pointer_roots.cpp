#include "core/measure/pointer_roots.hpp"

#include <algorithm>

#include "core/measure/range_walk.hpp"

namespace memsweep::measure {
namespace {

class RootSearch {
  public:
    explicit RootSearch(const LedgerInput& input)
        : input_{input}, covered_{input.covered}, mappers_{input.mappers}, blocks_{input.blocks}
    {
    }

    std::vector<AddressRange> make()
    {
        const std::vector<AreaRole> roles = roles_of(input_);
        const auto& areas = input_.space->areas;
        std::size_t place = 0;
        for (const sys::PageRun& run : input_.space->pages) {
            while (place < areas.size() && areas[place].end <= run.begin) {
                ++place;
            }
            if (place == areas.size()) {
                break;
            }
            if (roles[place] != AreaRole::recorder && is_written(run, areas[place])) {
                take_run(run, roles[place]);
            }
        }
        for (const StackRange& stack : input_.stacks) {
            if (stack.is_alive) {
                roots_.push_back({stack.begin, stack.end});
            }
        }
        return std::move(roots_);
    }

  private:
    // Private pages are the program's own only once it has written them, whatever it may do with them now.
    [[nodiscard]] static bool is_written(const sys::PageRun& run, const sys::MappedArea& area)
    {
        return run.state == sys::PageState::anonymous || run.state == sys::PageState::swapped ||
               (run.state == sys::PageState::file && area.is_writable());
    }

    void take_run(const sys::PageRun& run, AreaRole role)
    {
        const bool may_be_heap =
            role == AreaRole::anonymous || role == AreaRole::brk_heap || role == AreaRole::behind_file;
        if (!may_be_heap) {
            roots_.push_back({run.begin, run.end});
            return;
        }
        for (std::uint64_t page = run.begin; page < run.end; page += input_.page_bytes) {
            if (is_heap(page, role)) {
                continue;
            }
            if (!roots_.empty() && roots_.back().end == page) {
                roots_.back().end += input_.page_bytes;
            } else {
                roots_.push_back({page, page + input_.page_bytes});
            }
        }
    }

    [[nodiscard]] bool is_heap(std::uint64_t page, AreaRole role)
    {
        const std::uint64_t end = page + input_.page_bytes;
        while (!blocks_.empty() && block_end(blocks_.front()) <= page) {
            blocks_ = blocks_.subspan(1);
        }
        if (!blocks_.empty() && block_begin(blocks_.front()) < end) {
            return true;
        }
        const bool is_covered = covered_.at(page, end) != nullptr;
        const MapperRange* const mapper = mappers_.at(page, end);
        const bool is_allocators = mapper != nullptr && mapper->is_of_allocator;
        // Where a library's data lies, a block that malloc had mapped is gone: the linker maps it by calls that are not
        // seen.
        if (is_covered) {
            return role != AreaRole::behind_file || is_allocators;
        }
        return is_allocators && holds_heap(*mapper);
    }

    [[nodiscard]] bool holds_heap(const MapperRange& range)
    {
        if (looked_at_ != &range) {
            looked_at_ = &range;
            has_heap_ =
                holds_block(input_.blocks, range.begin, range.end) || overlaps(input_.covered, range.begin, range.end);
        }
        return has_heap_;
    }

    const LedgerInput& input_;
    Walk<CoveredPages> covered_;
    Walk<MapperRange> mappers_;
    std::span<const HeldBlock> blocks_;  // that may reach the page, or lie behind it
    const MapperRange* looked_at_{};
    bool has_heap_{};
    std::vector<AddressRange> roots_;
};

}  // namespace

std::vector<AddressRange> pointer_roots(const LedgerInput& input)
{
    return RootSearch{input}.make();
}

}  // namespace memsweep::measure
