#include "core/trace/heap_history.hpp"

#include <algorithm>

#include "core/base/checked.hpp"

namespace memsweep::trace {

template <typename Visit>
void CoveredPageTable::visit(std::uint64_t begin, std::uint64_t end, bool makes, Visit change)
{
    if (begin >= end) {
        return;
    }
    const std::uint64_t last_page = (end - 1) / page_bytes_;
    for (std::uint64_t page = begin / page_bytes_; page <= last_page; ++page) {
        const std::uint64_t number = page / pages_in_part;
        if (number != last_number_ || last_ == nullptr) {
            const auto found = makes ? parts_.try_emplace(number, pages_in_part).first : parts_.find(number);
            if (found == parts_.end()) {
                page = (number + 1) * pages_in_part - 1;
                continue;
            }
            last_number_ = number;
            last_ = &found->second;
        }
        change((*last_)[page % pages_in_part]);
    }
}

void CoveredPageTable::cover(std::uint64_t begin, std::uint64_t end, std::uint32_t site)
{
    visit(begin, end, true, [site](std::uint32_t& place) { place = site + 1; });
}

void CoveredPageTable::clear(std::uint64_t begin, std::uint64_t end)
{
    visit(begin, end, false, [](std::uint32_t& place) { place = 0; });
}

std::vector<measure::CoveredPages> CoveredPageTable::runs() const
{
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, part] : parts_) {
        numbers.push_back(number);
    }
    std::ranges::sort(numbers);
    std::vector<measure::CoveredPages> runs;
    for (const std::uint64_t number : numbers) {
        const Part& part = parts_.at(number);
        for (std::uint64_t i = 0; i < pages_in_part; ++i) {
            if (part[i] == 0) {
                continue;
            }
            const std::uint64_t begin = (number * pages_in_part + i) * page_bytes_;
            if (!runs.empty() && runs.back().end == begin && runs.back().site == part[i] - 1) {
                runs.back().end += page_bytes_;
            } else {
                runs.push_back({begin, begin + page_bytes_, part[i] - 1});
            }
        }
    }
    return runs;
}

class HeapHistory::Reading {
  public:
    Reading(HeapHistory& history, const ProgramNotes& notes, const HeapHistoryQuery& query)
        : history_{history}, query_{query}, covered_{query.page_bytes}, stacks_{notes}
    {
        history.by_site_.resize(query.sites);
        history.freed_.resize(query.sites);
    }

    void add(const Event& event)
    {
        if (event.process != query_.process || event.space != 0) {
            return;
        }
        ++history_.events_;
        history_.last_ticks_ = std::max(history_.last_ticks_, event.ticks);
        stacks_.add(event);
        switch (event.kind) {
        case EventKind::map:
            mapped_.insert(place_of(event), event.size, event.module, [](std::uint64_t, std::uint32_t) {});
            covered_.clear(event.address, base::saturating_add(event.address, event.size));
            return;
        case EventKind::unmap:
            mapped_.remove(place_of(event), event.size, [](std::uint64_t, std::uint32_t) {});
            covered_.clear(event.address, base::saturating_add(event.address, event.size));
            return;
        case EventKind::exec:
        case EventKind::process_exit:
            begin_anew();
            return;
        default:
            take(event);
        }
    }

    void finish()
    {
        constexpr std::uint64_t parts = 20;
        std::uint64_t all = 0;
        for (const auto& [thread, bytes] : asked_) {
            all = base::saturating_add(all, bytes);
        }
        history_.allocating_threads_ = static_cast<std::size_t>(std::ranges::count_if(
            asked_, [&](const auto& one) { return one.second != 0 && one.second >= all / parts; }));
        walk_.live().for_each([&](const BlockKey& key, const LiveBlock& block) {
            const Made& made = made_[block.tag];
            history_.live_.push_back({.address = key.address,
                                      .size = block.size,
                                      .alignment = made.alignment,
                                      .born = made.born,
                                      .site = site_of(made.stack),
                                      .stack = made.stack});
        });
        std::ranges::sort(history_.live_, {}, &LiveHeapBlock::address);
        history_.covered_ = covered_.runs();
        for (const auto& [place, range] : mapped_.all()) {
            history_.mapped_.push_back({place.begin, range.end, range.tag});
        }
        for (const ThreadStackState& one : stacks_.all()) {
            if (one.stack.process == query_.process && one.state != StackState::not_begun) {
                history_.stacks_.push_back(one);
            }
        }
    }

  private:
    struct Made {
        std::uint64_t born{};
        std::uint64_t alignment{};
        std::uint64_t address{};
        std::uint32_t stack{};
    };

    [[nodiscard]] MappedRanges::Place place_of(const Event& event) const { return {query_.process, 0, event.address}; }
    [[nodiscard]] std::uint32_t site_of(std::uint32_t stack) const
    {
        return stack < query_.site_of_stack.size() ? query_.site_of_stack[stack] : query_.site_of_stack[0];
    }

    void take(const Event& event)
    {
        const BlockWalk::Change change = walk_.add(event);
        if (change.freed) {
            end(*change.freed);
        }
        if (change.replaced) {
            end(*change.replaced);
        }
        if (change.made) {
            made_.resize(std::max<std::size_t>(made_.size(), std::size_t{change.made->tag} + 1));
            std::uint64_t& asked = asked_[event.thread];
            asked = base::saturating_add(asked, event.size);
            made_[change.made->tag] = {history_.events_, event.alignment, event.address, event.stack};
        }
    }

    void end(const LiveBlock& block)
    {
        const Made made = made_[block.tag];
        const std::uint32_t site = site_of(made.stack);
        const std::uint64_t life = history_.events_ - made.born;
        history_.lifetimes_.add(life);
        if (!history_.by_site_[site]) {
            history_.by_site_[site] = std::make_unique<measure::Lifetimes>();
        }
        history_.by_site_[site]->add(life);
        Freed& freed = history_.freed_[site];
        freed.bytes = base::saturating_add(freed.bytes, block.size);
        freed.small_bytes += block.size <= small_block ? block.size : 0;
        constexpr std::uint64_t most_bytes = 1ULL << 46U;  // a trace may say what it likes
        covered_.cover(made.address,
                       base::saturating_add(made.address, std::clamp<std::uint64_t>(block.size, 1, most_bytes)), site);
    }

    void begin_anew()
    {
        walk_.end_process(query_.process, [](const LiveBlock&) {});
        mapped_ = {};
        covered_ = CoveredPageTable{query_.page_bytes};
    }

    HeapHistory& history_;
    const HeapHistoryQuery& query_;
    CoveredPageTable covered_;
    ThreadStacks stacks_;
    MappedRanges mapped_;
    BlockWalk walk_;
    std::vector<Made> made_;                                  // by the number of the block
    std::unordered_map<std::uint32_t, std::uint64_t> asked_;  // bytes, by thread
};

HeapHistory HeapHistory::read(TraceReader& reader, const ProgramNotes& notes, const HeapHistoryQuery& query)
{
    HeapHistory history;
    Reading reading{history, notes, query};
    Event event;
    while (reader.next(event)) {
        reading.add(event);
    }
    reading.finish();
    return history;
}

const measure::Lifetimes* HeapHistory::lifetimes_of(std::uint32_t site) const
{
    return site < by_site_.size() ? by_site_[site].get() : nullptr;
}

}  // namespace memsweep::trace
