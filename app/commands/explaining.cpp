#include "app/commands/explaining.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/commands/traces.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/measure/pointer_roots.hpp"
#include "core/measure/reachability.hpp"
#include "core/measure/survivors.hpp"
#include "core/sys/mappings.hpp"
#include "core/sys/page_ops.hpp"
#include "core/trace/exact_cut.hpp"
#include "core/trace/heap_history.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/usable_size.hpp"
#include "reporters/document/call_sites.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

using measure::AddressRange;
using measure::HeldBlock;
using measure::MemoryCategory;
using reporters::Explanation;

constexpr std::size_t most_picture_cells = 1200;

class Explaining {
  public:
    explicit Explaining(const ExplainedMoment& moment)
        : moment_{moment}, snapshot_{*moment.snapshot}, space_{snapshot_.space}
    {
        explanation_.command = moment.command;
        explanation_.at = moment.at;
        constexpr double nanoseconds = 1e9;
        explanation_.stopped_seconds = static_cast<double>(snapshot_.stopped_nanoseconds) / nanoseconds;
        explanation_.allocator = measure::allocator_of_file(snapshot_.served_by);
        explanation_.allocator_file = reporters::inert_text(snapshot_.served_by);
    }

    base::Expected<Explanation> make(trace::TraceReader& reader)
    {
        const trace::StackTable& table = reader.read_stacks();
        const trace::ProgramNotes& notes = reader.read_notes();
        trace::Symbolizer symbolizer = trace::symbolizer_of(reader, table, trace::DebugFiles::of_this_machine);
        const trace::StackSites sites = trace::sites_of_stacks(table, symbolizer);
        const auto history = trace::HeapHistory::read(reader, notes,
                                                      {.process = snapshot_.process,
                                                       .page_bytes = sys::page_size(),
                                                       .site_of_stack = sites.of,
                                                       .sites = static_cast<std::uint32_t>(sites.places.size())});
        MEMSWEEP_TRY(reader.outcome());
        take_blocks(history, notes);
        const auto mappers = mappers_of(history, notes);
        const auto stacks = stacks_of(history);
        measure::LedgerInput input = ledger_input(history, mappers, stacks);
        input.sites = sites.places.size();
        input.most_cells = most_picture_cells;
        std::optional<MemoryContents> contents;
        if (moment_.contents != nullptr) {
            contents = *moment_.contents;
        } else if (moment_.memory != nullptr) {
            contents = look_into(input, *moment_.memory);
        }
        if (contents) {
            input.zero_parts = contents->zero_parts;
            unread_root_bytes_ = contents->reached.unread_root_bytes;
            if (unread_root_bytes_ <= contents->reached.root_bytes / most_unread_part) {
                take_reached(contents->reached, input.sites);
            }
        }
        explanation_.ledger = measure::memory_ledger(input);
        explanation_.page_bytes = input.page_bytes;
        take_growth(history, reader);
        take_answer(moment_.ask());
        explanation_.verdict = measure::memory_verdict({.ledger = &explanation_.ledger,
                                                        .tried = &explanation_.tried,
                                                        .growth = growth_,
                                                        .lost = sees_every_free(reader) ? lost_in_many_ : nothing_,
                                                        .allocator = explanation_.allocator,
                                                        .has_small_chunks = has_small_chunks(history),
                                                        .has_threads = history.allocating_threads() > 1});
        take_totals(history);
        std::vector<std::uint32_t> numbers;
        take_sites(table, symbolizer, sites, numbers);
        if (moment_.returns != nullptr) {
            moment_.returns->site_of_node = sites.of;
            moment_.returns->site_numbers = std::move(numbers);
        }
        take_warnings(reader, symbolizer);
        return std::move(explanation_);
    }

    base::Expected<MemoryContents> contents(trace::TraceReader& reader, const sys::ForeignMemory& memory)
    {
        return without_sites(reader, [&](const measure::LedgerInput& input) { return look_into(input, memory); });
    }

    base::Expected<measure::MemoryLedger> ledger(trace::TraceReader& reader)
    {
        return without_sites(reader, measure::memory_ledger);
    }

  private:
    // What `answer` says of the ledger's input.
    template <typename Answer>
    auto without_sites(trace::TraceReader& reader, const Answer& answer)
        -> base::Expected<decltype(answer(measure::LedgerInput{}))>
    {
        constexpr std::array<std::uint32_t, 1> one_site{0};
        const trace::ProgramNotes& notes = reader.read_notes();
        const auto history = trace::HeapHistory::read(reader, notes,
                                                      {.process = snapshot_.process,
                                                       .page_bytes = sys::page_size(),
                                                       .site_of_stack = one_site,
                                                       .sites = one_site.size()});
        MEMSWEEP_TRY(reader.outcome());
        take_blocks(history, notes);
        const auto mappers = mappers_of(history, notes);
        const auto stacks = stacks_of(history);
        return answer(ledger_input(history, mappers, stacks));
    }

    [[nodiscard]] measure::LedgerInput ledger_input(const trace::HeapHistory& history,
                                                    const std::vector<measure::MapperRange>& mappers,
                                                    const std::vector<measure::StackRange>& stacks) const
    {
        return {.space = &space_,
                .page_bytes = sys::page_size(),
                .blocks = blocks_,
                .covered = history.covered(),
                .mappers = mappers,
                .stacks = stacks,
                .zero_parts = {},
                .recorder_library = snapshot_.recorder_library,
                .recorder_folder = snapshot_.recorder_folder,
                .sites = 1};
    }

    [[nodiscard]] bool is_glibc() const { return explanation_.allocator == measure::KnownAllocator::glibc; }

    // Blocks that malloc mapped one by one, as glibc does from M_MMAP_THRESHOLD on.
    [[nodiscard]] HeldBlock held(const trace::LiveHeapBlock& block, const trace::ProgramNotes& notes) const
    {
        namespace glibc = trace::glibc;
        HeldBlock result{.address = block.address,
                         .requested = block.size,
                         .usable = block.size,
                         .site = block.site,
                         .alignment = block.alignment};
        if (is_glibc()) {
            constexpr std::uint64_t least_mapped = 128U << 10U;
            const bool is_mapped =
                block.size >= least_mapped && block.address % sys::page_size() == glibc::mapped_header;
            result.usable = is_mapped ? glibc::usable_in_mapping(block.size, sys::page_size(), block.alignment).least
                                      : glibc::usable_in_heap(block.size, block.alignment).least;
            result.header = static_cast<std::uint32_t>(is_mapped ? glibc::mapped_header : glibc::header);
        } else if (const auto usable = notes.usable_size({snapshot_.process, block.size, block.alignment})) {
            result.usable = std::max(*usable, block.size);
        }
        return result;
    }

    void take_blocks(const trace::HeapHistory& history, const trace::ProgramNotes& notes)
    {
        for (const trace::LiveHeapBlock& block : history.live()) {
            blocks_.push_back(held(block, notes));
        }
        for (std::size_t i = 0; i + 1 < blocks_.size(); ++i) {
            const std::uint64_t next = blocks_[i + 1].address - blocks_[i + 1].header;
            const std::uint64_t room = next > blocks_[i].address ? next - blocks_[i].address : 0;
            blocks_[i].usable = std::max(std::min(blocks_[i].usable, room), blocks_[i].requested);
        }
        live_ = &history.live();
    }

    // glibc maps its memory unseen. What seems to come from it is a jump to mmap from a function that it called.
    [[nodiscard]] std::vector<measure::MapperRange> mappers_of(const trace::HeapHistory& history,
                                                               const trace::ProgramNotes& notes) const
    {
        const std::string_view server = snapshot_.served_by;
        std::vector<measure::MapperRange> ranges;
        for (const trace::HeapHistory::Mapped& one : history.mapped()) {
            const std::string_view path =
                one.module == 0 ? std::string_view{} : notes.modules()[one.module - 1].module.path;
            const bool is_allocator =
                !is_glibc() && !path.empty() && !server.empty() && (path.ends_with(server) || server.ends_with(path));
            ranges.push_back({one.begin, one.end, is_allocator});
        }
        return ranges;
    }

    // Those of living threads first where two lie at one place.
    static std::vector<measure::StackRange> stacks_of(const trace::HeapHistory& history)
    {
        std::vector<measure::StackRange> all;
        for (const bool is_alive : {true, false}) {
            for (const trace::ThreadStackState& one : history.stacks()) {
                const measure::StackRange range{one.stack.begin, one.stack.begin + one.stack.bytes,
                                                one.state == trace::StackState::alive};
                const bool is_free = std::ranges::none_of(all, [&](const measure::StackRange& other) {
                    return range.begin < other.end && other.begin < range.end;
                });
                if (range.is_alive == is_alive && is_free) {
                    all.push_back(range);
                }
            }
        }
        std::ranges::sort(all, {}, &measure::StackRange::begin);
        return all;
    }

    [[nodiscard]] MemoryContents look_into(const measure::LedgerInput& input, const sys::ForeignMemory& memory) const
    {
        const auto read = [&](std::uint64_t address, void* into, std::size_t bytes) {
            return memory.read(address, into, bytes);
        };
        return {zero_parts_of(space_, memory), measure::reachability(blocks_, measure::pointer_roots(input), read)};
    }

    // An array in the frame of the program's first function may have held the blocks until that returned. What runs
    // after it writes over some 8 KiB of the stack (measured with glibc 2.36), or 1000 pointers. So only where more
    // families than that are lost, and none of them counts for much, are they lost whatever the growth.
    void take_reached(const measure::Reachability& reached, std::size_t sites)
    {
        explanation_.has_reachability = true;
        unreachable_.resize(sites);
        lost_.resize(sites);
        lost_in_many_.resize(sites);
        constexpr std::size_t many_families = 1500;
        const std::uint64_t all = std::accumulate(reached.family_bytes.begin(), reached.family_bytes.end(), 0ULL);
        const std::uint64_t most_of_many = measure::largest_of_many(reached.family_bytes, many_families);
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            if (reached.is_reachable[i]) {
                continue;
            }
            unreachable_[blocks_[i].site] += blocks_[i].requested;
            explanation_.unreachable_bytes += blocks_[i].requested;
            constexpr std::uint64_t fewest_families = 20;
            const std::uint32_t family = reached.family[i];
            if (family == measure::Reachability::no_family) {
                continue;
            }
            const std::uint64_t bytes = reached.family_bytes[family];
            lost_[blocks_[i].site] += bytes <= all / fewest_families ? blocks_[i].requested : 0;
            lost_in_many_[blocks_[i].site] += bytes <= most_of_many ? blocks_[i].requested : 0;
        }
    }

    // Of the ledger what the allocator counts as in use, with what it adds to blocks.
    [[nodiscard]] std::uint64_t in_blocks(bool is_mapped) const
    {
        std::uint64_t bytes = 0;
        for (const HeldBlock& block : blocks_) {
            const bool was_mapped = is_glibc() && block.header == trace::glibc::mapped_header;
            bytes += was_mapped == is_mapped ? block.usable + block.header : 0;
        }
        return bytes;
    }

    void take_answer(const CopyAnswer& answer)
    {
        explanation_.tried = answer.tried;
        children_peak_bytes_ = answer.children_peak_bytes;
        for (const auto& [name, bytes] : answer.figures) {
            if (name == "stats.arenas.4096.tcache_bytes" && !explanation_.allocator_says.empty()) {
                std::uint64_t& allocated = explanation_.allocator_says.back().bytes;
                allocated -= std::min(allocated, bytes);
                continue;
            }
            const bool is_mapped = name == reporters::mapped_blocks_figure;
            explanation_.allocator_says.push_back(
                {name == "stats.allocated" ? "allocated" : name, bytes, in_blocks(is_mapped)});
        }
    }

    void take_growth(const trace::HeapHistory& history, const trace::TraceReader& reader)
    {
        constexpr std::uint64_t least_bytes = 64U << 10U;
        constexpr std::uint64_t enough_lives = 20;
        const std::size_t count = explanation_.ledger.sites.size();
        growth_.resize(count);
        std::vector<std::vector<measure::Survivor>> survivors(count);
        for (const trace::LiveHeapBlock& block : history.live()) {
            if (explanation_.ledger.sites[block.site].live >= least_bytes) {
                survivors[block.site].push_back({block.born, block.size});
            }
        }
        for (std::uint32_t site = 0; site < count; ++site) {
            const measure::Lifetimes* lives = history.lifetimes_of(site);
            if (lives == nullptr || lives->count() < enough_lives) {
                lives = &history.lifetimes();
            }
            const bool is_known = lives != &history.lifetimes() || lives->count() >= measure::fewest_ended_lives;
            if (survivors[site].empty() || !is_known ||
                !measure::grows(survivors[site], lives->longest(), history.events())) {
                continue;
            }
            const bool is_lost = !lost_.empty() && lost_[site] * 2 >= explanation_.ledger.sites[site].live;
            growth_[site] = is_lost ? measure::SiteGrowth::leak : measure::SiteGrowth::grows;
        }
        const double ticks =
            static_cast<double>(snapshot_.cut.ticks - std::min(snapshot_.cut.ticks, snapshot_.start_ticks));
        const auto rate = reader.header().ticks_per_second;
        explanation_.seconds = rate == 0 ? 0 : ticks / static_cast<double>(rate);
    }

    // Whether most of what was left behind was freed in blocks that glibc keeps in its fastbins.
    [[nodiscard]] bool has_small_chunks(const trace::HeapHistory& history) const
    {
        std::uint64_t all = 0;
        std::uint64_t small = 0;
        for (std::size_t site = 0; site < explanation_.ledger.sites.size(); ++site) {
            const std::uint64_t left = explanation_.ledger.sites[site].left_behind;
            const trace::HeapHistory::Freed& freed = history.freed()[site];
            all += left;
            small += freed.small_bytes * 2 >= freed.bytes ? left : 0;
        }
        return all != 0 && small * 2 >= all;
    }

    void take_totals(const trace::HeapHistory& history)
    {
        for (const sys::MappedArea& area : space_.areas) {
            explanation_.pss_bytes += area.pss_bytes;
            explanation_.anonymous_bytes += area.anonymous_bytes;
        }
        explanation_.page_tables_bytes = space_.page_tables_bytes;
        explanation_.event = history.events();
    }

    // The stack that has most of a site, by what is live, or else the first.
    [[nodiscard]] std::vector<std::uint32_t> stacks_of_sites(const trace::StackTable& table,
                                                             const trace::StackSites& sites) const
    {
        std::vector<std::uint64_t> live(table.count());
        for (const trace::LiveHeapBlock& block : *live_) {
            live[block.stack] += block.size;
        }
        std::vector<std::uint32_t> best(sites.places.size());
        for (std::uint32_t node = 1; node < table.count(); ++node) {
            std::uint32_t& one = best[sites.of[node]];
            one = one == 0 || live[node] > live[one] ? node : one;
        }
        return best;
    }

    void take_sites(const trace::StackTable& table, trace::Symbolizer& symbolizer, const trace::StackSites& sites,
                    std::vector<std::uint32_t>& numbers)
    {
        const std::vector<std::uint32_t> best = stacks_of_sites(table, sites);
        std::vector<std::uint32_t> order(sites.places.size());
        std::iota(order.begin(), order.end(), 0U);
        const auto weight = [&](std::uint32_t site) {
            const measure::HeldBySite& one = explanation_.ledger.sites[site];
            return std::max({one.live, one.left_behind, one.pins_alone, one.pins_with_others});
        };
        std::ranges::stable_sort(order, std::greater{}, weight);
        for (const std::uint32_t number : order) {
            if (weight(number) == 0) {
                break;
            }
            reporters::ExplainedSite site;
            const trace::ResolvedFrame& place = sites.places[number];
            site.place = place.function.empty() ? std::string{} : reporters::inert_text(reporters::place_label(place));
            site.function = reporters::inert_text(std::string{place.function});
            for (std::uint32_t node = best[number]; node != 0; node = table.node(node).parent) {
                for (const trace::ResolvedFrame& frame : symbolizer.at(node)) {
                    site.stack.push_back(reporters::inert_text(reporters::place_label(frame)));
                }
                if (site.stack.size() >= trace::most_frames_shown) {
                    break;
                }
            }
            site.figures = explanation_.ledger.sites[number];
            site.unreachable = unreachable_.empty() ? 0 : unreachable_[number];
            site.growth = growth_[number];
            const bool has_rate = site.growth != measure::SiteGrowth::none && explanation_.seconds > 0;
            site.bytes_per_second = has_rate ? static_cast<double>(site.figures.live) / explanation_.seconds : 0;
            if (explanation_.verdict.site == number) {
                explanation_.main_site = explanation_.sites.size();
            }
            explanation_.sites.push_back(std::move(site));
            numbers.push_back(number);
        }
    }

    void warn_of_other_processes()
    {
        constexpr std::uint64_t shares = 4;  // less than a fourth of what is explained changes no answer
        const bool are_small =
            children_peak_bytes_ != 0 && children_peak_bytes_ < explanation_.ledger.rss_bytes / shares;
        if (!moment_.others.are_running && (moment_.others.page_faults == 0 || are_small)) {
            return;
        }
        const std::string peak = children_peak_bytes_ == 0 ? ""
                                                           : fmt::format(", the largest of which held up to {}",
                                                                         base::format_size(children_peak_bytes_));
        explanation_.is_one_of_several = true;
        warn(fmt::format("It has started other processes{}. They are not explained here: --process NAME explains the "
                         "first that becomes a program of that name.",
                         peak));
    }

    void warn(std::string text) { explanation_.warnings.push_back(std::move(text)); }

    void warn_of_what_is_past()
    {
        const measure::MemoryLedger& ledger = explanation_.ledger;
        const std::uint64_t recorder = ledger.bytes(MemoryCategory::recorder);
        const std::uint64_t peak = space_.peak_rss_bytes - std::min(recorder, space_.peak_rss_bytes);
        if (peak <= 2 * ledger.program_bytes() || peak - ledger.program_bytes() < measure::noticed_waste_bytes) {
            return;
        }
        if (moment_.at == "end") {
            warn(fmt::format(
                "Up to {} were resident before its end: what it has given back by then, as interpreters do on "
                "their way out, is not explained.",
                base::format_size(peak)));
        } else {
            warn(fmt::format("Up to {} had been resident before: what it had given back by then is not explained.",
                             base::format_size(peak)));
        }
    }

    // Otherwise a block that nothing points to may have been freed.
    [[nodiscard]] bool sees_every_free(const trace::TraceReader& reader) const
    {
        return !snapshot_.has_lost_events && !snapshot_.has_own_malloc && reader.damage().corrupted_chunks == 0 &&
               reader.damage().missing_chunks == 0;
    }

    void take_warnings(const trace::TraceReader& reader, const trace::Symbolizer& symbolizer)
    {
        const measure::MemoryLedger& ledger = explanation_.ledger;
        warn_of_other_processes();
        warn_of_what_is_past();
        if (snapshot_.has_own_malloc) {
            warn("The program brings its own malloc, whose calls the recorder does not see: its heap is not told "
                 "apart.");
        } else if (measure::does_not_see(ledger)) {
            warn(fmt::format("The recording does not see this program's allocations: {} of the allocator's pages never "
                             "lay in a block that was recorded.",
                             base::format_size(ledger.bytes(MemoryCategory::never_a_block))));
        }
        if (const std::uint64_t mapped = ledger.bytes(MemoryCategory::mapped_by_program);
            mapped >= measure::noticed_waste_bytes) {
            warn(fmt::format(
                "{} were mapped by code outside of the allocator (pools, code made at run time, the arenas of "
                "Python): memsweep does not see into them.",
                base::format_size(mapped)));
        }
        if (ledger.sum() != ledger.rss_bytes) {
            warn(fmt::format("The categories add up to {}, the kernel says {}.", base::exact_size(ledger.sum()),
                             base::exact_size(ledger.rss_bytes)));
        }
        if (space_.from == sys::PagesFrom::pagemap) {
            warn("This kernel has no PAGEMAP_SCAN (Linux 6.7): parts of huge pages are not told apart.");
        }
        if (moment_.memory == nullptr && moment_.contents == nullptr) {
            warn(fmt::format("{}: whether something points to a block, and which parts of huge pages are zero, is not "
                             "known.",
                             moment_.why_no_memory));
        }
        if (unread_root_bytes_ != 0 && !explanation_.has_reachability) {
            warn(fmt::format("{} of its memory could not be read: whether something points to a block is not known.",
                             base::format_size(unread_root_bytes_)));
        }
        for (const std::string& warning : moment_.warnings) {
            warn(warning);
        }
        if (snapshot_.has_lost_events) {
            warn("Some of its events could not be recorded: blocks are missing, or were freed.");
        }
        if (reader.damage().corrupted_chunks != 0 || reader.damage().missing_chunks != 0) {
            warn("Parts of the recording are damaged and left out.");
        }
        for (const std::string& note : symbolizer.notes()) {
            warn(reporters::inert_text(note));
        }
    }

    const ExplainedMoment& moment_;
    const trace::Snapshot& snapshot_;
    const sys::AddressSpace& space_;
    std::uint64_t children_peak_bytes_{};
    std::vector<HeldBlock> blocks_;
    const std::vector<trace::LiveHeapBlock>* live_{};
    static constexpr std::uint64_t most_unread_part = 100;  // a hundredth of the roots
    std::uint64_t unread_root_bytes_{};
    const std::vector<std::uint64_t> nothing_;
    std::vector<std::uint64_t> unreachable_;   // by site
    std::vector<std::uint64_t> lost_;          // likewise, time and again
    std::vector<std::uint64_t> lost_in_many_;  // likewise, in so many pieces that nothing else need say so
    std::vector<measure::SiteGrowth> growth_;
    Explanation explanation_;
};

}  // namespace

bool has_all_blocks(const trace::Facts& facts)
{
    return !facts.contains("min_size") && !facts.contains("sample");
}

base::Expected<MemoryContents> read_contents(const std::string& path, const trace::Snapshot& snapshot,
                                             const sys::ForeignMemory& memory)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(path));
    reader.read_until(snapshot.cut);
    const ExplainedMoment moment{.snapshot = &snapshot};
    return Explaining{moment}.contents(reader, memory);
}

base::Expected<measure::MemoryLedger> ledger_of(const std::string& path, const trace::Snapshot& snapshot)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(path));
    reader.read_until(snapshot.cut);
    const ExplainedMoment moment{.snapshot = &snapshot};
    return Explaining{moment}.ledger(reader);
}

base::Expected<Explanation> explain_moment(const std::string& path, const ExplainedMoment& moment)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(path));
    reader.read_until(moment.snapshot->cut);
    if (moment.returns != nullptr) {
        moment.returns->served_by = moment.snapshot->served_by;
        moment.returns->removal = {
            .trace = path, .cut = moment.snapshot->cut, .process = moment.snapshot->process, .allocator = {}};
    }
    return Explaining{moment}.make(reader);
}

}  // namespace memsweep::app
