#include "core/sys/placed_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/sys/file_text.hpp"
#include "core/sys/machine_facts.hpp"

namespace memsweep::sys {
namespace {

using model::PageKind;

constexpr std::uint64_t bytes_2m = 2ULL << 20;
constexpr std::uint64_t bytes_1g = 1ULL << 30;

bool is_hugetlb(PageKind pages)
{
    return pages == PageKind::huge_2m || pages == PageKind::huge_1g;
}

// Asked before mapping: with overcommitted reservations the mapping would succeed and the first touch be fatal.
base::Expected<void> check_reserved(std::uint64_t bytes, PageKind pages, const std::string& root)
{
    const std::uint64_t page_bytes = bytes_of(pages, root);
    const std::string folder = fmt::format("{}sys/kernel/mm/hugepages/hugepages-{}kB/", root, page_bytes >> 10);
    const auto free_pages = base::parse_number(read_word(folder + "free_hugepages"));
    if (!free_pages) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("this kernel has no huge pages of {} MiB", page_bytes >> 20));
    }
    const std::uint64_t reserved = base::parse_number(read_word(folder + "resv_hugepages")).value_or(0);
    const std::uint64_t there = *free_pages - std::min(reserved, *free_pages);
    const std::uint64_t needed = bytes / page_bytes;
    if (there < needed) {
        return base::fail(base::ErrorCode::budget,
                          fmt::format("needs {} free huge {} of {} MiB, {} are there: echo {} > {}nr_hugepages", needed,
                                      needed == 1 ? "page" : "pages", page_bytes >> 20, there, needed, folder));
    }
    return {};
}

int map_flags(PageKind pages)
{
    constexpr int log_2m = 21 << MAP_HUGE_SHIFT;
    constexpr int log_1g = 30 << MAP_HUGE_SHIFT;
    constexpr int always = MAP_PRIVATE | MAP_ANONYMOUS;
    return pages == PageKind::huge_2m   ? always | MAP_HUGETLB | log_2m
           : pages == PageKind::huge_1g ? always | MAP_HUGETLB | log_1g
                                        : always | MAP_NORESERVE;
}

std::byte* rounded_up(std::byte* ptr, std::uint64_t alignment)
{
    const auto address = reinterpret_cast<std::uintptr_t>(ptr);
    return ptr + ((alignment - address % alignment) % alignment);
}

// "7f0000000000-7f0000001000 rw-p ...": where a mapping begins; empty for the lines of its fields.
std::optional<std::uintptr_t> start_of_mapping(std::string_view line)
{
    std::uintptr_t start{};
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), start, 16);
    const bool is_range = problem == std::errc{} && end != line.data() + line.size() && *end == '-';
    return is_range ? std::optional{start} : std::nullopt;
}

// 0 for the lines of other fields.
std::uint64_t kib_in(std::string_view line, std::string_view key)
{
    if (!line.starts_with(key)) {
        return 0;
    }
    line.remove_prefix(key.size());
    return base::parse_number(take_word(line)).value_or(0) << 10;
}

}  // namespace

std::uint64_t bytes_of(PageKind pages, const std::string& root)
{
    switch (pages) {
    case PageKind::system:
    case PageKind::small:
        return page_size();
    case PageKind::thp:
        return huge_page_bytes(root);
    case PageKind::huge_2m:
        return bytes_2m;
    case PageKind::huge_1g:
        return bytes_1g;
    }
    return page_size();
}

base::Expected<PlacedMemory> PlacedMemory::map(std::uint64_t bytes, PageKind pages, const std::string& root)
{
    const std::uint64_t page_bytes = bytes_of(pages, root);
    const std::string thp = read_word(root + "sys/kernel/mm/transparent_hugepage/enabled");
    if (page_bytes == 0 || (pages == PageKind::thp && thp.find("[never]") != std::string::npos)) {
        return base::fail(base::ErrorCode::not_supported, page_bytes == 0
                                                              ? "this kernel has no transparent huge pages"
                                                              : "transparent huge pages are off: echo madvise > "
                                                                "/sys/kernel/mm/transparent_hugepage/enabled");
    }
    const std::uint64_t size = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    if (is_hugetlb(pages)) {
        MEMSWEEP_TRY(check_reserved(size, pages, root));
    }
    // Between inaccessible pages: the kernel cannot merge it with a neighbour, whose pages would then be counted here.
    const std::uint64_t guard_bytes = is_hugetlb(pages) ? 0 : page_size();
    // Base pages begin where huge ones would: across a boundary of many address bits, lines of neighbouring pages seem
    // to share a tag of AMD's way predictor (Lipp et al., "Take A Way", 2020), and a set that fits into L1 is read at
    // three times its latency.
    const std::uint64_t alignment = is_hugetlb(pages) ? page_bytes : std::max(page_bytes, bytes_2m);
    auto mapped = MEMSWEEP_TRY(Mapping::map(size + 2 * guard_bytes + (is_hugetlb(pages) ? 0 : alignment),
                                            is_hugetlb(pages) ? PROT_READ | PROT_WRITE : PROT_NONE, map_flags(pages)));
    std::byte* const data = rounded_up(mapped.data() + guard_bytes, alignment);
    if (::mprotect(data, size, PROT_READ | PROT_WRITE) != 0) {
        return base::fail(base::os_error("mprotect", errno));
    }
    if (pages == PageKind::thp) {
        MEMSWEEP_TRY(advise(data, size, Advice::huge_pages));
    } else if (pages == PageKind::small) {
        // Refused where huge pages are not built in: then there is none to forbid.
        static_cast<void>(advise(data, size, Advice::no_huge_pages));
    }
    return PlacedMemory{std::move(mapped), data, size, pages};
}

std::vector<HugePagePool> huge_page_pools(const std::string& root)
{
    std::vector<HugePagePool> pools;
    std::error_code problem;
    const std::string top = with_slash(root) + "sys/kernel/mm/hugepages";
    for (const auto& entry : std::filesystem::directory_iterator{top, problem}) {
        const std::string name = entry.path().filename().string();
        std::string_view size = name;
        constexpr std::string_view prefix = "hugepages-";
        constexpr std::string_view suffix = "kB";
        if (!size.starts_with(prefix) || !size.ends_with(suffix)) {
            continue;
        }
        size.remove_prefix(prefix.size());
        size.remove_suffix(suffix.size());
        const std::string folder = entry.path().native() + "/";
        pools.push_back({.page_bytes = base::parse_number(size).value_or(0) << 10,
                         .reserved = base::parse_number(read_word(folder + "nr_hugepages")).value_or(0),
                         .free = base::parse_number(read_word(folder + "free_hugepages")).value_or(0)});
    }
    std::ranges::sort(pools, {}, &HugePagePool::page_bytes);
    return pools;
}

base::Expected<PagesGot> pages_got(const void* ptr, std::uint64_t bytes)
{
    const auto smaps = read_kernel_text("/proc/self/smaps");
    if (!smaps) {
        return base::fail(base::os_error("read", errno, "/proc/self/smaps"));
    }
    const auto first = reinterpret_cast<std::uintptr_t>(ptr);
    PagesGot got;
    bool inside = false;
    for (std::string_view rest = *smaps; !rest.empty();) {
        const std::string_view line = take_line(rest);
        if (const auto start = start_of_mapping(line)) {
            inside = *start >= first && *start < first + bytes;
        } else if (inside) {
            got.resident_bytes += kib_in(line, "Rss:");
            got.thp_bytes += kib_in(line, "AnonHugePages:");
            got.hugetlb_bytes += kib_in(line, "Private_Hugetlb:") + kib_in(line, "Shared_Hugetlb:");
        }
    }
    return got;
}

std::string describe(const PagesGot& got)
{
    if (got.hugetlb_bytes != 0) {
        return "hugetlb";
    }
    if (got.resident_bytes == 0) {
        return "";
    }
    const double share = static_cast<double>(got.thp_bytes) / static_cast<double>(got.resident_bytes);
    return share == 0 ? "4k" : share >= 0.9 ? "thp" : fmt::format("4k, {:.0f} % of it thp", share * 100);
}

PlacementProof placement_proof(const base::Expected<PagesByNode>& pages, std::optional<std::uint32_t> asked)
{
    if (!pages) {
        return {.text = "not proven: " + base::describe(pages.error())};
    }
    if (pages->not_resident != 0) {
        return {.text = fmt::format("not proven: {} pages are not resident", pages->not_resident)};
    }
    std::string text;
    std::uint64_t elsewhere = 0;
    for (const auto& [node, count] : pages->pages) {
        text += fmt::format("{}{} pages on node {}", text.empty() ? "" : ", ", count, node);
        elsewhere += asked && node != *asked ? count : 0;
    }
    return {.text = fmt::format("{} (move_pages)", text), .wrong = elsewhere != 0};
}

PlacementProof prove_placement(const void* ptr, std::uint64_t bytes, std::optional<std::uint32_t> asked)
{
    const auto into_page = reinterpret_cast<std::uintptr_t>(ptr) % page_size();
    const auto* const first = static_cast<const std::byte*>(ptr) - into_page;
    PlacementProof proof = placement_proof(pages_by_node(first, into_page + bytes), asked);
    const auto got = pages_got(first, into_page + bytes);
    proof.pages = got ? describe(*got) : "not proven: " + base::describe(got.error());
    return proof;
}

base::Expected<PlacedMemory> PlacedMemory::untouched(const PlacedRequest& request)
{
    auto memory = map(request.bytes, request.pages);
    if (!memory && request.or_small && memory.error().code == base::ErrorCode::not_supported) {
        memory = map(request.bytes, PageKind::small);
    }
    if (memory && request.node) {
        if (auto bound = bind_to_node(memory->data_, memory->size_, *request.node); !bound) {
            return base::fail(base::ErrorCode::not_supported,
                              fmt::format("no memory on node {}: {}", *request.node, base::describe(bound.error())));
        }
        memory->node_ = request.node;
    }
    return memory;
}

base::Expected<PlacedMemory> PlacedMemory::touched(const PlacedRequest& request)
{
    auto memory = MEMSWEEP_TRY(untouched(request));
    touch_pages(memory.data_, memory.size_);
    return memory;
}

}  // namespace memsweep::sys
