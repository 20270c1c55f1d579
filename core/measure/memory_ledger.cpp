#include "core/measure/memory_ledger.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/measure/memory_picture.hpp"
#include "core/measure/range_walk.hpp"

namespace memsweep::measure {
namespace {

bool is_file(const sys::MappedArea& area)
{
    return area.name.starts_with('/');
}

bool is_made_to_share(const sys::MappedArea& area)
{
    return area.name.starts_with("/memfd:") || area.name.starts_with("/dev/shm/") || area.name.starts_with("/SYSV") ||
           area.name.starts_with("/dev/zero") || area.name.starts_with("/anon_hugepage") ||
           (area.name.empty() && area.is_shared());
}

// Where the next block of its alignment could begin.
std::uint64_t gap_end(const HeldBlock& block)
{
    constexpr std::uint64_t of_malloc = 16;
    return block.alignment <= of_malloc ? 0
                                        : (block_end(block) + block.alignment - 1) / block.alignment * block.alignment;
}

std::uint64_t part(std::uint64_t begin, std::uint64_t end, std::uint64_t low, std::uint64_t high)
{
    const std::uint64_t from = std::max(begin, low);
    const std::uint64_t to = std::min(end, high);
    return to > from ? to - from : 0;
}

bool is_of_recorder(const sys::MappedArea& area, const LedgerInput& input)
{
    if (is_file(area)) {
        return area.name == input.recorder_library ||
               (!input.recorder_folder.empty() && area.name.starts_with(input.recorder_folder));
    }
    return area.name.empty() && area.is_left_out_of_dumps && !overlaps(input.mappers, area.begin, area.end) &&
           !overlaps(input.covered, area.begin, area.end);
}

AreaRole role_by_name(const sys::MappedArea& area, const std::set<std::string_view>& executed, const LedgerInput& input)
{
    constexpr std::array<std::pair<std::string_view, AreaRole>, 5> kernel_names{
        {{"[stack]", AreaRole::stack},
         {"[heap]", AreaRole::brk_heap},
         {"[vdso]", AreaRole::program_file},
         {"[vvar]", AreaRole::program_file},
         {"[vsyscall]", AreaRole::program_file}}};
    if (is_of_recorder(area, input)) {
        return AreaRole::recorder;
    }
    if (is_made_to_share(area)) {
        return AreaRole::shared;
    }
    if (is_file(area)) {
        return executed.contains(area.name) ? AreaRole::program_file : AreaRole::data_file;
    }
    for (const auto& [name, role] : kernel_names) {
        if (name == area.name) {
            return role;
        }
    }
    return AreaRole::anonymous;
}

class LedgerMaker {
  public:
    explicit LedgerMaker(const LedgerInput& input)
        : input_{input}, roles_{roles_of(input)}, covered_{input.covered}, mappers_{input.mappers},
          stacks_{input.stacks}, zero_{input.zero_parts}, blocks_{input.blocks},
          picture_{*input.space, roles_, input.most_cells}
    {
        ledger_.sites.resize(input.sites);
        for (const HeldBlock& block : input.blocks) {
            ledger_.live_requested += block.requested;
            ++ledger_.live_blocks;
            ledger_.sites[block.site].live += block.requested;
            ++ledger_.sites[block.site].blocks;
        }
        ledger_.rss_bytes = input.space->rss_bytes();
    }

    MemoryLedger make()
    {
        std::size_t place = 0;
        const auto& areas = input_.space->areas;
        for (const sys::PageRun& run : input_.space->pages) {
            while (place < areas.size() && areas[place].end <= run.begin) {
                ++place;
                has_heap_ = Known::no_answer;
            }
            if (place == areas.size() || run.begin < areas[place].begin) {
                continue;
            }
            if (!run.is_resident()) {
                (run.state == sys::PageState::zero ? ledger_.zero_page_bytes : ledger_.swapped_bytes) +=
                    run.end - run.begin;
                continue;
            }
            take_run(run, areas[place], roles_[place]);
        }
        ledger_.picture = picture_.take();
        return std::move(ledger_);
    }

  private:
    enum class Known : std::uint8_t { no_answer, no, yes };

    void add(MemoryCategory category, std::uint64_t bytes, std::uint64_t pages)
    {
        CategoryFigure& figure = ledger_.categories[static_cast<std::size_t>(category)];
        figure.bytes += bytes;
        figure.pages += pages;
        picture_.add(page_, category, bytes);
    }

    void take_run(const sys::PageRun& run, const sys::MappedArea& area, AreaRole role)
    {
        const MemoryCategory whole = whole_run(run, role);
        if (whole != MemoryCategory::other) {
            page_ = run.begin;
            add(whole, run.end - run.begin, (run.end - run.begin) / input_.page_bytes);
            return;
        }
        for (std::uint64_t page = run.begin; page < run.end; page += input_.page_bytes) {
            take_page(page, run, area, role);
        }
    }

    // `other`: its pages differ.
    [[nodiscard]] static MemoryCategory whole_run(const sys::PageRun& run, AreaRole role)
    {
        const bool is_of_file = run.state == sys::PageState::file;
        switch (role) {
        case AreaRole::recorder:
            return MemoryCategory::recorder;
        case AreaRole::program_file:
            return is_of_file ? MemoryCategory::files_program : MemoryCategory::private_copies;
        case AreaRole::data_file:
            return is_of_file ? MemoryCategory::files_data : MemoryCategory::private_copies;
        case AreaRole::shared:
            return is_of_file ? MemoryCategory::shared : MemoryCategory::private_copies;
        case AreaRole::stack:
            return MemoryCategory::stacks;
        case AreaRole::brk_heap:
        case AreaRole::behind_file:
        case AreaRole::anonymous:
            break;
        }
        return is_of_file ? MemoryCategory::shared : MemoryCategory::other;
    }

    void take_page(std::uint64_t page, const sys::PageRun& run, const sys::MappedArea& area, AreaRole role)
    {
        const std::uint64_t end = page + input_.page_bytes;
        page_ = page;
        while (!blocks_.empty() && block_end(blocks_.front()) <= page) {
            blocks_ = blocks_.subspan(1);
        }
        const bool has_block = !blocks_.empty() && block_begin(blocks_.front()) < end;
        const CoveredPages* const covered = covered_.at(page, end);
        const MapperRange* const mapper = mappers_.at(page, end);
        const StackRange* const stack = stacks_.at(page, end);
        if (stack != nullptr && (stack->is_alive || (!has_block && mapper == nullptr))) {
            add(MemoryCategory::stacks, input_.page_bytes, 1);
        } else if (run.is_huge && zero_.at(page, end) != nullptr) {
            add(MemoryCategory::huge_zero, input_.page_bytes, 1);
            ledger_.whole_huge_zero += is_of_zero_huge_page(page) ? input_.page_bytes : 0;
        } else if (has_block) {
            take_blocks(page, covered);
            ledger_.kept_free_at_top = role == AreaRole::brk_heap ? 0 : ledger_.kept_free_at_top;
        } else if (covered != nullptr) {
            add(MemoryCategory::kept_free, input_.page_bytes, 1);
            ledger_.sites[covered->site].left_behind += input_.page_bytes;
            if (role == AreaRole::brk_heap) {
                ledger_.kept_free_in_brk_heap += input_.page_bytes;
                ledger_.kept_free_at_top += input_.page_bytes;
            }
        } else if (mapper != nullptr) {
            add(mapper->is_of_allocator ? MemoryCategory::never_a_block : MemoryCategory::mapped_by_program,
                input_.page_bytes, 1);
        } else if (role == AreaRole::behind_file) {
            add(MemoryCategory::bss, input_.page_bytes, 1);
        } else {
            const bool is_heap = role == AreaRole::brk_heap || has_heap(area);
            add(is_heap ? MemoryCategory::never_a_block : MemoryCategory::other, input_.page_bytes, 1);
        }
    }

    // The first touch of a huge page that is read alone maps the kernel's page of zeroes.
    bool is_of_zero_huge_page(std::uint64_t page)
    {
        constexpr std::uint64_t huge_page = 2U << 20U;
        const std::uint64_t begin = page / huge_page * huge_page;
        const AddressRange* const zero = zero_.at(page, page + input_.page_bytes);
        return zero != nullptr && zero->begin <= begin && begin + huge_page <= zero->end;
    }

    // Whether blocks lie or lay in the area: then the allocator mapped it by calls that are not seen.
    bool has_heap(const sys::MappedArea& area)
    {
        if (has_heap_ == Known::no_answer) {
            const bool holds =
                holds_block(input_.blocks, area.begin, area.end) || overlaps(input_.covered, area.begin, area.end);
            has_heap_ = holds ? Known::yes : Known::no;
        }
        return has_heap_ == Known::yes;
    }

    void take_blocks(std::uint64_t page, const CoveredPages* covered)
    {
        const std::uint64_t end = page + input_.page_bytes;
        std::uint64_t filled = page;
        std::set<std::uint32_t>& sites = sites_here_;
        sites.clear();
        std::uint64_t live = 0;
        std::uint64_t rounding = 0;
        std::uint64_t headers = 0;
        std::uint64_t gap_until = 0;  // behind the last aligned block
        for (const HeldBlock& block : blocks_) {
            ledger_.alignment_gaps += part(filled, gap_until, page, std::min(block_begin(block), end));
            gap_until = 0;
            if (block_begin(block) >= end) {
                break;
            }
            headers += part(block_begin(block), block.address, filled, end);
            filled = std::max(filled, std::min(block.address, end));
            live += part(block.address, block.address + block.requested, filled, end);
            filled = std::max(filled, std::min(block.address + block.requested, end));
            rounding += part(block.address + block.requested, block_end(block), filled, end);
            filled = std::max(filled, std::min(block_end(block), end));
            gap_until = gap_end(block);
            sites.insert(block.site);
        }
        ledger_.alignment_gaps += part(filled, gap_until, page, end);
        const std::uint64_t holes = input_.page_bytes - live - rounding - headers;
        add(MemoryCategory::live, live, 1);
        add(MemoryCategory::rounding, rounding, 0);
        add(MemoryCategory::headers, headers, 0);
        add(MemoryCategory::holes, holes, 0);
        for (const std::uint32_t site : sites) {
            HeldBySite& figures = ledger_.sites[site];
            (sites.size() == 1 ? figures.pins_alone : figures.pins_with_others) += input_.page_bytes;
        }
        if (covered != nullptr) {
            ledger_.sites[covered->site].left_behind += holes;
        }
    }

    const LedgerInput& input_;
    std::vector<AreaRole> roles_;
    Walk<CoveredPages> covered_;
    Walk<MapperRange> mappers_;
    Walk<StackRange> stacks_;
    Walk<AddressRange> zero_;
    std::span<const HeldBlock> blocks_;  // that may reach the page, or lie behind it
    std::set<std::uint32_t> sites_here_;
    Known has_heap_{};
    PictureMaker picture_;
    std::uint64_t page_{};  // that is looked at
    MemoryLedger ledger_;
};

}  // namespace

std::string_view name_of(MemoryCategory category)
{
    constexpr std::array<std::string_view, memory_categories> names{
        "recorder",          "files_program", "files_data", "private_copies", "bss",   "shared",    "stacks",
        "huge_zero",         "live",          "rounding",   "headers",        "holes", "kept_free", "never_a_block",
        "mapped_by_program", "other"};
    return names.at(static_cast<std::size_t>(category));
}

std::uint64_t MemoryLedger::sum() const noexcept
{
    std::uint64_t all = 0;
    for (const CategoryFigure& figure : categories) {
        all += figure.bytes;
    }
    return all;
}

std::uint64_t MemoryLedger::program_bytes() const noexcept
{
    return sum() - bytes(MemoryCategory::recorder);
}

std::vector<AreaRole> roles_of(const LedgerInput& input)
{
    const auto& areas = input.space->areas;
    std::set<std::string_view> executed;
    for (const sys::MappedArea& area : areas) {
        if (is_file(area) && area.is_executable()) {
            executed.insert(area.name);
        }
    }
    std::vector<AreaRole> roles;
    for (std::size_t i = 0; i < areas.size(); ++i) {
        const sys::MappedArea& area = areas[i];
        const bool is_beside_file =
            area.name.empty() && area.is_writable() && i > 0 && areas[i - 1].end == area.begin && is_file(areas[i - 1]);
        const bool is_behind_library = is_beside_file && areas[i - 1].name == input.recorder_library;
        if (is_behind_library) {
            roles.push_back(AreaRole::recorder);
        } else if (is_beside_file && roles[i - 1] == AreaRole::program_file && !is_of_recorder(area, input)) {
            roles.push_back(AreaRole::behind_file);
        } else {
            roles.push_back(role_by_name(area, executed, input));
        }
    }
    return roles;
}

MemoryLedger memory_ledger(const LedgerInput& input)
{
    return LedgerMaker{input}.make();
}

}  // namespace memsweep::measure
