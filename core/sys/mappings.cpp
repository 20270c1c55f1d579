#include "core/sys/mappings.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::sys {
namespace {

// linux/fs.h of Linux 6.7, which the C library's headers may lack.
struct ScanArguments {
    std::uint64_t size{sizeof(ScanArguments)};
    std::uint64_t flags{};
    std::uint64_t start{};
    std::uint64_t end{};
    std::uint64_t walk_end{};
    std::uint64_t regions{};
    std::uint64_t region_room{};
    std::uint64_t max_pages{};
    std::uint64_t inverted{};
    std::uint64_t all_of{};
    std::uint64_t any_of{};
    std::uint64_t returned{};
};
struct ScannedRegion {
    std::uint64_t start{};
    std::uint64_t end{};
    std::uint64_t categories{};
};
constexpr unsigned long pagemap_scan = _IOWR('f', 16, ScanArguments);
constexpr std::uint64_t page_is_file = 1U << 2U;
constexpr std::uint64_t page_is_present = 1U << 3U;
constexpr std::uint64_t page_is_swapped = 1U << 4U;
constexpr std::uint64_t page_is_zero = 1U << 5U;
constexpr std::uint64_t page_is_huge = 1U << 6U;

// Takes "begin-end permissions offset device inode   name".
std::optional<MappedArea> area_of(std::string_view line)
{
    std::string_view range = take_word(line);
    const auto begin = base::parse_number(base::take_until(range, '-'), 16);
    const auto end = base::parse_number(range, 16);
    const std::string_view permissions = take_word(line);
    if (!begin || !end || *begin >= *end || permissions.size() != 4) {
        return std::nullopt;
    }
    static_cast<void>(take_word(line));  // offset
    static_cast<void>(take_word(line));  // device
    const auto inode = base::parse_number(take_word(line));
    if (!inode) {
        return std::nullopt;
    }
    MappedArea area{.begin = *begin, .end = *end};
    area.permissions = permissions;
    area.inode = *inode;
    area.name = base::trimmed(line);
    return area;
}

void take_flags(std::string_view flags, MappedArea& area)
{
    for (std::string_view flag = take_word(flags); !flag.empty(); flag = take_word(flags)) {
        area.is_left_out_of_dumps = area.is_left_out_of_dumps || flag == "dd";
        area.is_of_device = area.is_of_device || flag == "io" || flag == "pf";
    }
}

void take_figure(std::string_view line, MappedArea& area)
{
    constexpr std::array<std::pair<std::string_view, std::uint64_t MappedArea::*>, 5> fields{
        {{"Rss", &MappedArea::rss_bytes},
         {"Pss", &MappedArea::pss_bytes},
         {"Anonymous", &MappedArea::anonymous_bytes},
         {"AnonHugePages", &MappedArea::anon_huge_bytes},
         {"Swap", &MappedArea::swapped_bytes}}};
    const std::string_view key = base::take_until(line, ':');
    if (key == "VmFlags") {
        take_flags(line, area);
        return;
    }
    const auto* const field =
        std::ranges::find(fields, key, &std::pair<std::string_view, std::uint64_t MappedArea::*>::first);
    if (field != fields.end()) {
        constexpr std::uint64_t kib = 1024;
        area.*field->second = base::parse_number(take_word(line)).value_or(0) * kib;
    }
}

// `first`: of the area's own, for runs of two areas are two.
void add_run(const PageRun& run, std::size_t first, std::vector<PageRun>& pages)
{
    if (pages.size() > first && pages.back().end == run.begin && pages.back().state == run.state &&
        pages.back().is_huge == run.is_huge) {
        pages.back().end = run.end;
    } else {
        pages.push_back(run);
    }
}

PageRun run_of(const ScannedRegion& region)
{
    PageRun run{.begin = region.start, .end = region.end};
    run.is_huge = (region.categories & page_is_huge) != 0;
    if ((region.categories & page_is_zero) != 0) {
        run.state = PageState::zero;
    } else if ((region.categories & page_is_present) == 0) {
        run.state = PageState::swapped;
    } else {
        run.state = (region.categories & page_is_file) != 0 ? PageState::file : PageState::anonymous;
    }
    return run;
}

// Where the kernel gives more regions than there was room for in one of its own steps (512), `walk_end` lies before
// what it has given: the next scan begins behind the last region instead, and the last scan is one that gave fewer
// regions than there was room for. False with errno set: the kernel cannot.
bool scan(int pagemap, const MappedArea& area, std::vector<PageRun>& pages)
{
    std::array<ScannedRegion, 512> regions;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    constexpr std::uint64_t known = page_is_file | page_is_present | page_is_swapped | page_is_zero | page_is_huge;
    const std::size_t first = pages.size();
    std::uint64_t from = area.begin;
    while (from < area.end) {
        ScanArguments arguments{.start = from,
                                .end = area.end,
                                .regions = reinterpret_cast<std::uintptr_t>(regions.data()),
                                .region_room = regions.size(),
                                .any_of = page_is_present | page_is_swapped,
                                .returned = known};
        const int found = ::ioctl(pagemap, pagemap_scan, &arguments);
        if (found < 0) {
            return false;
        }
        for (const ScannedRegion& region : std::span{regions}.first(static_cast<std::size_t>(found))) {
            add_run(run_of(region), first, pages);
            from = region.end;
        }
        if (static_cast<std::size_t>(found) < regions.size()) {
            return true;
        }
    }
    return true;
}

bool read_entries(int pagemap, const MappedArea& area, std::vector<PageRun>& pages)
{
    constexpr std::uint64_t present = 1ULL << 63U;
    constexpr std::uint64_t swapped = 1ULL << 62U;
    constexpr std::uint64_t of_file = 1ULL << 61U;
    const std::uint64_t page = page_size();
    const std::size_t first = pages.size();
    std::array<std::uint64_t, 4096> entries;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    for (std::uint64_t from = area.begin; from < area.end;) {
        const std::uint64_t wanted = std::min<std::uint64_t>((area.end - from) / page, entries.size());
        const ssize_t got = ::pread(pagemap, entries.data(), wanted * sizeof(std::uint64_t),
                                    static_cast<off_t>(from / page * sizeof(std::uint64_t)));
        if (got <= 0) {
            return got == 0;  // the area has ended
        }
        for (const std::uint64_t entry :
             std::span{entries}.first(static_cast<std::size_t>(got) / sizeof(std::uint64_t))) {
            if ((entry & (present | swapped)) != 0) {
                const bool is_file = (entry & of_file) != 0;
                add_run({.begin = from,
                         .end = from + page,
                         .state = (entry & present) == 0 ? PageState::swapped
                                  : is_file              ? PageState::file
                                                         : PageState::anonymous},
                        first, pages);
            }
            from += page;
        }
    }
    return true;
}

bool is_all_zero(std::span<const std::byte> bytes)
{
    return std::ranges::all_of(bytes, [](std::byte one) { return one == std::byte{0}; });
}

// pagemap takes the kernel's page of zeroes for one of the process's own, which smaps does not count. So many of the
// pages that are all zero are it.
void mark_zero_pages(pid_t process, const MappedArea& area, std::size_t first, std::vector<PageRun>& pages)
{
    std::uint64_t surplus = 0;
    for (std::size_t i = first; i < pages.size(); ++i) {
        surplus += pages[i].is_resident() ? pages[i].end - pages[i].begin : 0;
    }
    surplus -= std::min(surplus, area.rss_bytes);
    const auto memory = ForeignMemory::open(process);
    if (surplus == 0 || !memory) {
        return;
    }
    const std::vector<PageRun> runs{pages.begin() + static_cast<std::ptrdiff_t>(first), pages.end()};
    pages.resize(first);
    std::vector<std::byte> content(page_size());
    for (const PageRun& run : runs) {
        if (run.state != PageState::anonymous || surplus == 0) {
            add_run(run, first, pages);
            continue;
        }
        for (std::uint64_t page = run.begin; page < run.end; page += content.size()) {
            const bool is_zero = surplus != 0 && memory->read(page, content.data(), content.size()) == content.size() &&
                                 is_all_zero(content);
            surplus -= is_zero ? content.size() : 0;
            add_run({page, page + content.size(), is_zero ? PageState::zero : run.state, run.is_huge}, first, pages);
        }
    }
}

base::Expected<std::string> read_all(const std::string& path)
{
    const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file.valid()) {
        return base::fail(base::os_error("cannot be read", errno, path));
    }
    std::string text;
    std::array<char, 65536> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where read
    for (;;) {
        const ssize_t got = retry_interrupted([&] { return ::read(file.get(), piece.data(), piece.size()); });
        if (got < 0) {
            return base::fail(base::os_error("cannot be read", errno, path));
        }
        if (got == 0) {
            return text;
        }
        text.append(piece.data(), static_cast<std::size_t>(got));
    }
}

base::Expected<AddressSpace> look(pid_t process, PagesBy by)
{
    const std::string folder = fmt::format("/proc/{}/", process);
    AddressSpace space;
    const std::string smaps = MEMSWEEP_TRY(read_all(folder + "smaps"));
    space.areas = MEMSWEEP_TRY(parse_smaps(smaps));
    const std::string status = MEMSWEEP_TRY(read_all(folder + "status"));
    space.page_tables_bytes = find_kib_field(status, "VmPTE").value_or(0);
    space.peak_rss_bytes = find_kib_field(status, "VmHWM").value_or(0);
    const UniqueFd pagemap{::open((folder + "pagemap").c_str(), O_RDONLY | O_CLOEXEC)};
    if (!pagemap.valid()) {
        return base::fail(base::os_error("cannot be read", errno, folder + "pagemap"));
    }
    space.from = by == PagesBy::best ? PagesFrom::scan : PagesFrom::pagemap;
    for (const MappedArea& area : space.areas) {
        if ((area.rss_bytes == 0 && area.swapped_bytes == 0) || area.is_of_device) {
            continue;
        }
        const std::size_t before = space.pages.size();
        if (space.from == PagesFrom::scan && !scan(pagemap.get(), area, space.pages)) {
            space.pages.resize(before);
            space.from = PagesFrom::pagemap;
        }
        if (space.from == PagesFrom::pagemap && !read_entries(pagemap.get(), area, space.pages)) {
            return base::fail(base::os_error("cannot be read", errno, folder + "pagemap"));
        }
        if (space.from == PagesFrom::pagemap) {
            mark_zero_pages(process, area, before, space.pages);
        }
    }
    return space;
}

}  // namespace

std::uint64_t AddressSpace::rss_bytes() const noexcept
{
    std::uint64_t sum = 0;
    for (const MappedArea& area : areas) {
        sum += area.rss_bytes;
    }
    return sum;
}

std::uint64_t AddressSpace::resident_bytes() const noexcept
{
    std::uint64_t sum = 0;
    for (const PageRun& run : pages) {
        sum += run.is_resident() ? run.end - run.begin : 0;
    }
    return sum;
}

base::Expected<std::vector<MappedArea>> parse_smaps(std::string_view text)
{
    std::vector<MappedArea> areas;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        std::string_view first = line.substr(0, line.find(' '));
        if (!first.ends_with(':')) {
            auto area = area_of(line);
            if (!area || (!areas.empty() && area->begin < areas.back().end)) {
                return base::fail(base::ErrorCode::invalid_input, fmt::format("is no line of smaps: \"{}\"", line));
            }
            areas.push_back(*std::move(area));
        } else if (!areas.empty()) {
            take_figure(line, areas.back());
        }
    }
    return areas;
}

base::Expected<AddressSpace> read_address_space(pid_t process, PagesBy by)
{
    constexpr int most_looks = 3;
    AddressSpace space = MEMSWEEP_TRY(look(process, by));
    for (int looks = 1; looks < most_looks && space.rss_bytes() != space.resident_bytes(); ++looks) {
        space = MEMSWEEP_TRY(look(process, by));
    }
    return space;
}

base::Expected<ForeignMemory> ForeignMemory::open(pid_t process)
{
    const std::string path = fmt::format("/proc/{}/mem", process);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return base::fail(base::os_error("cannot be read", errno, path));
    }
    return ForeignMemory{file};
}

ForeignMemory::ForeignMemory(ForeignMemory&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}

ForeignMemory::~ForeignMemory()
{
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

std::size_t ForeignMemory::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept
{
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got = retry_interrupted([&] {
            return ::pread(fd_, static_cast<char*>(into) + done, bytes - done, static_cast<off_t>(address + done));
        });
        if (got <= 0) {
            break;
        }
        done += static_cast<std::size_t>(got);
    }
    return done;
}

}  // namespace memsweep::sys
