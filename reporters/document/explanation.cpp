#include "reporters/document/explanation.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/document/table.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

using measure::MemoryCategory;
using measure::MemoryWord;

constexpr std::size_t most_explained_sites = 20;
constexpr std::size_t most_explained_stacks = 3;
constexpr std::size_t most_strips = 50;

std::string size_of(std::uint64_t bytes)
{
    return base::format_size(bytes);
}

std::string count_of(std::uint64_t count)
{
    return base::format_count(static_cast<double>(count));
}

std::string allocator_words(const Explanation& one)
{
    return one.allocator == measure::KnownAllocator::other ? std::string{"the allocator"}
                                                           : std::string{measure::name_of(one.allocator)};
}

std::string live_words(const Explanation& one)
{
    const std::uint64_t live = one.ledger.bytes(MemoryCategory::live);
    return live == 0 ? std::string{"nothing is live"}
                     : fmt::format("{} {} live", size_of(live), live == 1 ? "is" : "are");
}

// Of live memory, where the verdict is another. The last pointer to it may have been in a frame that is gone.
std::string unreachable_words(const Explanation& one)
{
    constexpr std::uint64_t noticed_bytes = 1U << 20U;
    constexpr std::uint64_t noticed_shares = 5;
    const bool is_noticed = one.verdict.word != MemoryWord::leak && one.unreachable_bytes >= noticed_bytes &&
                            one.unreachable_bytes >= one.ledger.live_requested / noticed_shares;
    return is_noticed ? fmt::format(" No pointer to {} of what is live was found.", size_of(one.unreachable_bytes))
                      : std::string{};
}

// What it is.
std::string word_line(const Explanation& one)
{
    const std::string part = size_of(one.verdict.bytes);
    const std::string of = fmt::format("{} of {}", part, size_of(one.ledger.program_bytes()));
    switch (one.verdict.word) {
    case MemoryWord::leak:
        return fmt::format("Leak: {} were {}, and nothing points to them any more.", part,
                           one.verdict.is_throughout ? "left behind all the time" : "lost");
    case MemoryWord::grows:
        return fmt::format(
            "Grows: {} were added all the time and are still pointed to. A cache that is not full yet looks "
            "the same.",
            part);
    case MemoryWord::retention:
        return fmt::format("Retention: {} are whole free pages that {} keeps; {}.", of, allocator_words(one),
                           live_words(one));
    case MemoryWord::kept:
        return fmt::format("Kept: {} are whole free pages that {} keeps; {}.", of, allocator_words(one),
                           live_words(one));
    case MemoryWord::fragmentation:
        return fmt::format("Fragmentation: {} are holes beside live blocks; {}.", of, live_words(one));
    case MemoryWord::rounding:
        return fmt::format(
            "Rounding: {} are what {} adds to blocks beyond what was asked for, or leaves for their alignment; {}.", of,
            allocator_words(one), live_words(one));
    case MemoryWord::huge_pages:
        return fmt::format(
            "Huge pages: {} are zero parts of huge pages beside parts that are not: never written, or written "
            "with zeroes.",
            of);
    case MemoryWord::stacks:
        return fmt::format("Stacks: {} are stacks of threads.", of);
    case MemoryWord::files:
        return fmt::format("Files: {} are pages of files, which the kernel takes back when it needs them.", of);
    case MemoryWord::shared:
        return fmt::format("Shared: {} are shared memory.", of);
    case MemoryWord::mapped_by_program:
        return fmt::format("Mapped by the program: {} were mapped by code outside of {}. What is in them is not seen.",
                           of, allocator_words(one));
    case MemoryWord::in_use:
        return fmt::format("In use: {} are live blocks and the program's data.", of);
    case MemoryWord::nothing_to_change:
        break;
    }
    return fmt::format("Nothing to change{}: {} are resident, and no part that could be given back is worth it.",
                       one.is_one_of_several ? " in this one of several processes" : "",
                       size_of(one.ledger.program_bytes()));
}

// What a request returns.
std::string second_line(const Explanation& one)
{
    if (!one.tried.was_tried()) {
        return fmt::format("No request was tried: {}.", one.tried.why_not);
    }
    return one.tried.returned == 0
               ? fmt::format("{}, tried in a copy of the program, returns nothing.", one.tried.request)
               : fmt::format("{}, tried in a copy of the program, returns {}.", one.tried.request,
                             size_of(one.tried.returned));
}

std::uint64_t figure_of(const ExplainedSite& site, MemoryWord word)
{
    switch (word) {
    case MemoryWord::retention:
    case MemoryWord::kept:
        return site.figures.left_behind;
    case MemoryWord::fragmentation:
        return site.figures.pins_alone;
    default:
        return site.figures.live;
    }
}

std::string share_words(std::uint64_t part, std::uint64_t whole)
{
    constexpr double nearly = 0.99;
    const double share = whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
    return share >= nearly ? "all of it" : fmt::format("{} of it", size_of(part));
}

std::string site_words(const Explanation& one)
{
    if (!one.main_site) {
        return {};
    }
    const ExplainedSite& site = one.sites[*one.main_site];
    const std::string place = site.place.empty() ? "code without a stack" : site.place;
    const std::uint64_t part = figure_of(site, one.verdict.word);
    switch (one.verdict.word) {
    case MemoryWord::leak:
        if (!one.verdict.is_throughout) {
            return fmt::format("Most of it at {}: {} of the {} that are live there.", place, size_of(site.unreachable),
                               size_of(site.figures.live));
        }
        [[fallthrough]];
    case MemoryWord::grows:
        return fmt::format("Most of it at {}: {} live in {}.", place, size_of(site.figures.live),
                           plural(site.figures.blocks, "block"));
    case MemoryWord::retention:
    case MemoryWord::kept:
        return fmt::format("Left behind by {}: {}.", place, share_words(part, one.verdict.bytes));
    case MemoryWord::fragmentation: {
        const std::string others = site.figures.pins_with_others == 0
                                       ? std::string{}
                                       : fmt::format(", and with others on {}", size_of(site.figures.pins_with_others));
        std::string words =
            fmt::format("Pinned by {}: its {} lie alone on {} of pages{}.", place,
                        plural(site.figures.blocks, "live block"), size_of(site.figures.pins_alone), others);
        const auto left =
            std::ranges::max_element(one.sites, {}, [](const auto& each) { return each.figures.left_behind; });
        if (left->figures.left_behind != 0) {
            words += fmt::format(" The holes were left by {} ({}).",
                                 left->place.empty() ? "code without a stack" : left->place,
                                 size_of(left->figures.left_behind));
        }
        return words;
    }
    default:
        return part == 0 ? std::string{}
                         : fmt::format("Most is live at {}: {} in {}.", place, size_of(part),
                                       plural(site.figures.blocks, "block"));
    }
}

// Nothing where it is not told, or more would be held.
std::string removal_words(const Explanation& one)
{
    if (!one.main_site) {
        return {};
    }
    const auto& without = one.sites[*one.main_site].without;
    return !without || !without->as_it_is.is_told() || without->as_it_is.bytes <= 0
               ? std::string{}
               : fmt::format(" Removing it returns {}.", size_of(static_cast<std::uint64_t>(without->as_it_is.bytes)));
}

// Who, and which setting.
std::string third_line(const Explanation& one)
{
    std::string words = site_words(one);
    if (!words.empty()) {
        words += removal_words(one);
    }
    if (!one.verdict.settings.empty()) {
        std::string settings;
        for (const std::string& setting : one.verdict.settings) {
            settings += (settings.empty() ? "" : " or ") + setting;
        }
        words += fmt::format("{}Setting to try: {}.", words.empty() ? "" : " ", settings);
    }
    return words;
}

Tone tone_of_word(MemoryWord word)
{
    switch (word) {
    case MemoryWord::leak:
        return Tone::bad;
    case MemoryWord::grows:
    case MemoryWord::retention:
    case MemoryWord::kept:
    case MemoryWord::fragmentation:
    case MemoryWord::rounding:
    case MemoryWord::huge_pages:
        return Tone::caution;
    default:
        return Tone::plain;
    }
}

Table ledger_table(const Explanation& one)
{
    Table table{.title = "Every resident page",
                .note = fmt::format("{} resident; recorded up to event {}", size_of(one.ledger.rss_bytes), one.event),
                .columns = {Column::word_key("what"), Column::number("size"), Column::number("share"),
                            Column::number("pages")}};
    for (std::size_t i = 0; i < measure::memory_categories; ++i) {
        const auto category = static_cast<MemoryCategory>(i);
        const measure::CategoryFigure& figure = one.ledger.of(category);
        if (figure.bytes == 0) {
            continue;
        }
        const double share =
            static_cast<double>(figure.bytes) / static_cast<double>(std::max<std::uint64_t>(one.ledger.sum(), 1));
        table.rows.push_back({{std::string{category_words(category)}},
                              {size_of(figure.bytes), base::exact_size(figure.bytes)},
                              {.text = fmt::format("{:.1f} %", share * 100), .share = share},
                              {figure.pages == 0 ? std::string{} : count_of(figure.pages)}});
    }
    std::uint64_t pages = 0;
    for (const measure::CategoryFigure& figure : one.ledger.categories) {
        pages += figure.pages;
    }
    table.rows.push_back(
        {{"all"}, {size_of(one.ledger.sum()), base::exact_size(one.ledger.sum())}, {}, {count_of(pages)}});
    return table;
}

// As they are drawn: the heap first, then what is beside it.
constexpr std::array<MemoryCategory, measure::memory_categories> drawn_order{
    MemoryCategory::live,          MemoryCategory::rounding,          MemoryCategory::headers,
    MemoryCategory::holes,         MemoryCategory::kept_free,         MemoryCategory::huge_zero,
    MemoryCategory::never_a_block, MemoryCategory::mapped_by_program, MemoryCategory::stacks,
    MemoryCategory::bss,           MemoryCategory::private_copies,    MemoryCategory::shared,
    MemoryCategory::files_data,    MemoryCategory::files_program,     MemoryCategory::other,
    MemoryCategory::recorder};

// Those that have anything.
std::vector<PartOfMemory> parts_of(const std::array<std::uint64_t, measure::memory_categories>& bytes,
                                   std::uint64_t whole)
{
    std::vector<PartOfMemory> parts;
    for (const MemoryCategory category : drawn_order) {
        const std::uint64_t part = bytes.at(static_cast<std::size_t>(category));
        if (part != 0) {
            parts.push_back({.kind = std::string{measure::name_of(category)},
                             .name = std::string{category_words(category)},
                             .size = size_of(part),
                             .exact = base::exact_size(part),
                             .share = static_cast<double>(part) / static_cast<double>(std::max(whole, part))});
        }
    }
    return parts;
}

// "live 1.5 MiB, holes 20 KiB"
std::string words_of(const std::vector<PartOfMemory>& parts)
{
    std::vector<std::string> words;
    words.reserve(parts.size());
    for (const PartOfMemory& part : parts) {
        words.push_back(fmt::format("{} {}", part.name, part.size));
    }
    return listed(words);
}

MemoryBar ledger_bar(const Explanation& one)
{
    std::array<std::uint64_t, measure::memory_categories> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes.at(i) = one.ledger.categories.at(i).bytes;
    }
    const std::uint64_t recorder = one.ledger.sum() - one.ledger.program_bytes();
    const std::string with =
        recorder == 0 ? std::string{} : fmt::format(", {} of memsweep's recorder among it", size_of(recorder));
    MemoryBar bar{.title = "The ledger",
                  .about = fmt::format("All of its {} of resident memory{}, by what it is. Hatched: what nothing uses.",
                                       size_of(one.ledger.sum()), with),
                  .spoken = {},
                  .parts = parts_of(bytes, one.ledger.sum())};
    bar.spoken = fmt::format("One bar of {}: {}.", size_of(one.ledger.sum()), words_of(bar.parts));
    return bar;
}

std::string name_of_area(const measure::PictureArea& area)
{
    return area.name.empty() ? std::string{"anonymous memory"} : inert_text(area.name);
}

std::uint64_t total(const std::array<std::uint64_t, measure::memory_categories>& bytes)
{
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::string gap_words(std::uint64_t begin, std::uint64_t end, std::string_view what)
{
    return fmt::format("{} {}", size_of(end - begin), what);
}

std::vector<MemoryStrips::Cell> cells_of_area(const measure::PictureArea& area, std::uint64_t cell_bytes)
{
    std::vector<MemoryStrips::Cell> cells;
    std::uint64_t last = area.begin / cell_bytes * cell_bytes;
    for (const measure::PictureCell& cell : area.cells) {
        MemoryStrips::Cell drawn{.parts = parts_of(cell.bytes, cell_bytes)};
        drawn.title = fmt::format("{:#x}: {}", std::max(cell.begin, area.begin), words_of(drawn.parts));
        drawn.gap_before = cell.begin == last ? std::string{} : gap_words(last, cell.begin, "not resident");
        cells.push_back(std::move(drawn));
        last = cell.begin + cell_bytes;
    }
    return cells;
}

// Resident bytes that an area must have to be drawn, so that there are not too many.
std::uint64_t least_drawn(const measure::MemoryPicture& picture)
{
    if (picture.areas.size() <= most_strips) {
        return 0;
    }
    std::vector<std::uint64_t> sizes;
    sizes.reserve(picture.areas.size());
    for (const measure::PictureArea& area : picture.areas) {
        sizes.push_back(total(area.bytes()));
    }
    std::ranges::nth_element(sizes, sizes.begin() + most_strips, std::greater{});
    return sizes[most_strips] + 1;
}

MemoryStrips address_space(const Explanation& one)
{
    constexpr std::uint64_t told_gap = 1U << 20U;
    const measure::MemoryPicture& picture = one.ledger.picture;
    MemoryStrips strips{
        .title = "The address space",
        .about = fmt::format("Each area with resident pages, by address. A cell is {}, filled from below by what is "
                             "resident of it; a dashed line stands for pages that are not.",
                             size_of(picture.cell_bytes)),
        .table = {.title = "Areas with resident pages",
                  .columns = {Column::number_key("begin"), Column::number("end"), Column::text("area"),
                              Column::number("size"), Column::number("resident"), Column::number("pages"),
                              Column::text("what")}}};
    const std::uint64_t least = least_drawn(picture);
    if (least != 0) {
        strips.about += fmt::format(" Areas with less than {} are in the table alone.", size_of(least));
    }
    std::uint64_t last = picture.areas.empty() ? 0 : picture.areas.front().begin;
    for (const measure::PictureArea& area : picture.areas) {
        const auto bytes = area.bytes();
        const std::uint64_t resident = total(bytes);
        const std::string pages = count_of(resident / one.page_bytes);
        const std::string what = words_of(parts_of(bytes, resident));
        if (resident >= least) {
            strips.strips.push_back(
                {.gap_before =
                     area.begin - last >= told_gap ? gap_words(last, area.begin, "without resident pages") : "",
                 .name = name_of_area(area),
                 .size = size_of(resident),
                 .about = fmt::format("{:#x} to {:#x}: {} of {} resident, {} pages: {}.", area.begin, area.end,
                                      size_of(resident), size_of(area.end - area.begin), pages, what),
                 .cells = cells_of_area(area, picture.cell_bytes)});
        }
        strips.table.rows.push_back({{fmt::format("{:#x}", area.begin)},
                                     {fmt::format("{:#x}", area.end)},
                                     {name_of_area(area)},
                                     {size_of(area.end - area.begin), base::exact_size(area.end - area.begin)},
                                     {size_of(resident), base::exact_size(resident)},
                                     {pages},
                                     {what}});
        last = area.end;
    }
    return strips;
}

Table explained_sites_table(const Explanation& one)
{
    Table table{.title = "Call sites",
                .note =
                    "left behind: holes and free pages whose last block was of the site; pinned: pages that its live "
                    "blocks lie on. What removing a site returns is another figure",
                .columns = {Column::word_key("site")}};
    table.add_numbers({"live", "blocks", "lost", "left behind", "pinned alone", "with others"});
    table.columns.push_back(Column::word("growth"));
    for (std::size_t i = 0; i < std::min(one.sites.size(), most_explained_sites); ++i) {
        const ExplainedSite& site = one.sites[i];
        const auto cell = [](std::uint64_t bytes) { return Cell{size_of(bytes), base::exact_size(bytes)}; };
        table.rows.push_back({{site.place.empty() ? "no stack" : site.place},
                              cell(site.figures.live),
                              {count_of(site.figures.blocks)},
                              one.has_reachability ? cell(site.unreachable) : Cell{"?"},
                              cell(site.figures.left_behind),
                              cell(site.figures.pins_alone),
                              cell(site.figures.pins_with_others),
                              {std::string{measure::name_of(site.growth)}}});
    }
    return table;
}

std::string moment_words(const Explanation& one)
{
    if (one.at == "end") {
        return "at the program's end";
    }
    return fmt::format("{}, {:.3f} s after its start",
                       one.at == "peak" ? "when the program held the most" : "while the program ran", one.seconds);
}

Facts beside(const Explanation& one)
{
    Facts facts;
    facts.list = {{"proportional (Pss)", size_of(one.pss_bytes)},
                  {"page tables", size_of(one.page_tables_bytes)},
                  {"zero page", size_of(one.ledger.zero_page_bytes)},
                  {"swapped", size_of(one.ledger.swapped_bytes)},
                  {"allocator", one.allocator_file.empty() ? "not known" : one.allocator_file},
                  {"stood for it", fmt::format("{:.1f} ms", one.stopped_seconds * 1000)}};
    if (!one.ended_by.empty()) {
        facts.list.push_back({"ended", one.ended_by});
    }
    for (const measure::AllocatorFigure& figure : one.allocator_says) {
        facts.list.push_back({fmt::format("{} says {}", measure::name_of(one.allocator), figure.name),
                              fmt::format("{}; the ledger {}", size_of(figure.bytes), size_of(figure.ledger))});
    }
    return facts;
}

void add_explained_stacks(const Explanation& one, Document& document)
{
    for (std::size_t i = 0; i < std::min(one.sites.size(), most_explained_stacks); ++i) {
        document.add_stack(one.sites[i].place, one.sites[i].stack, Weight::reference);
    }
}

}  // namespace

std::string_view category_words(MemoryCategory category)
{
    constexpr std::array<std::string_view, measure::memory_categories> words{"memsweep's recorder",
                                                                             "files: programs and libraries",
                                                                             "files: data",
                                                                             "written copies of files",
                                                                             "data of programs (bss)",
                                                                             "shared memory",
                                                                             "stacks",
                                                                             "huge pages, all zero",
                                                                             "live",
                                                                             "rounding",
                                                                             "headers of blocks",
                                                                             "holes",
                                                                             "kept free",
                                                                             "allocator, never a block",
                                                                             "mapped by the program",
                                                                             "other"};
    return words.at(static_cast<std::size_t>(category));
}

std::string_view meaning_of_figure(std::string_view name)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> meanings{
        {{"uordblks", "chunks that are in use for glibc; beyond the ledger are those that thread caches keep"},
         {mapped_blocks_figure, "blocks that glibc mapped one by one"},
         {"allocated", "what jemalloc has given out, without what its thread caches keep"},
         {"current_allocated_bytes", "what tcmalloc has given out, without what its thread caches keep"},
         {"heap.used", "blocks in use in mimalloc's heap of the thread that ended the program"}}};
    for (const auto& [figure, meaning] : meanings) {
        if (figure == name) {
            return meaning;
        }
    }
    return "what the allocator has given out";
}

std::vector<std::string> headlines_of(const Explanation& explanation)
{
    std::vector<std::string> lines{word_line(explanation) + unreachable_words(explanation), second_line(explanation)};
    if (std::string third = third_line(explanation); !third.empty()) {
        lines.push_back(std::move(third));
    }
    return lines;
}

Document document(const Explanation& explanation)
{
    std::string command;
    for (const std::string& word : explanation.command) {
        command += (command.empty() ? "" : " ") + inert_text(word);
    }
    Document document{.kicker = "memsweep explain",
                      .title = std::move(command),
                      .description =
                          fmt::format("Where every resident page comes from {}.", moment_words(explanation))};
    const std::vector<std::string> lines = headlines_of(explanation);
    document.add(Opening{.headline = {lines.front(), tone_of_word(explanation.verdict.word)}});
    for (std::size_t i = 1; i < lines.size(); ++i) {
        document.add(Paragraph{lines[i], Tone::plain});
    }
    for (const std::string& warning : explanation.warnings) {
        document.add(Paragraph{warning, Tone::caution});
    }
    document.add(ledger_bar(explanation));
    document.add(TableBlock{.table = ledger_table(explanation), .id = "ledger"});
    if (!explanation.ledger.picture.areas.empty()) {
        document.add(address_space(explanation), Weight::appendix);
    }
    document.add_table(TableBlock{.table = explained_sites_table(explanation), .id = "sites", .is_sortable = true});
    add_returns(explanation, document);
    document.add(beside(explanation), Weight::reference);
    add_explained_stacks(explanation, document);
    return document;
}

}  // namespace memsweep::reporters
