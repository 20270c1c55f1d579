#include "core/trace/stacks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/trace/bounds.hpp"
#include "core/trace/caller_strata.hpp"

namespace memsweep::trace {
namespace {

// Small numbers for keys, in the order in which they first come.
template <typename Key, typename Numbers>
class KeyNumbers {
  public:
    std::uint32_t of(const Key& key)
    {
        const auto [place, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
        if (is_new) {
            keys_.push_back(key);
        }
        return place->second;
    }
    [[nodiscard]] std::size_t count() const { return keys_.size(); }
    [[nodiscard]] std::vector<Key> take() { return std::move(keys_); }

  private:
    Numbers numbers_;
    std::vector<Key> keys_;
};

struct ImageBytes {
    std::uint64_t live{};
    std::uint32_t number{};
};
// What each process holds, and which image has held the most.
struct Images {
    std::map<std::uint32_t, ImageBytes> of;
    StackImage largest;
    std::uint64_t peak_bytes{};
};

class AllocationCount {
  public:
    AllocationCount(CountedBy by, StackSampling sampling, const StackTable* table,
                    const std::vector<std::uint32_t>& groups, PeakOf peak)
        : by_{by}, sampling_{by == CountedBy::stack ? sampling : StackSampling{}}, groups_{&groups},
          unit_{sampling_.is_exact() ? 1 : StackSampling::unit}, ledger_{unit_}, group_ledger_{unit_}, whole_{unit_}
    {
        if (peak == PeakOf::largest_image && by == CountedBy::stack) {
            MEMSWEEP_ASSERT(groups.empty(), "a group has stacks of several images");
            images_.emplace();
        }
        if (!sampling_.is_exact() && table != nullptr && table->has_callers()) {
            strata_.emplace(*table, unit_);
            known_origins_ = groups.empty() ? std::vector<bool>{} : strata_->origins_of_known_group(groups);
        }
    }

    void add(const Event& event)
    {
        number_of_event_ += event.kind == EventKind::define_space ? 0 : 1;
        if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            walk_.end_process(event.process, [this](const LiveBlock& block) { abandon(block); });
            if (images_) {
                ImageBytes& image = images_->of[event.process];
                image = {.number = image.number + 1};
            }
        } else if (is_allocation(event.kind) || event.kind == EventKind::realloc || event.kind == EventKind::free) {
            change(event);
        }
    }

    [[nodiscard]] std::uint64_t held() const
    {
        return walk_.live().count() + threads_.count() * things_of_a_thread + sizes_.count() * 3 +
               (strata_ ? strata_->held() : 0) + (images_ ? images_->of.size() : 0);
    }

    CountedAllocations finish(const StackTable* table)
    {
        CountedAllocations counted{.sampling = sampling_,
                                   .total = whole_.figures(0),
                                   .of = ledger_.all(),
                                   .groups = group_ledger_.all(),
                                   .estimated_own_peaks = has_unknown_blocks_,
                                   .impossible_event = impossible_event_};
        if (by_ == CountedBy::thread) {
            counted.threads = threads_.take();
            counted.of.resize(counted.threads.size());
        }
        counted.sizes = sizes_.take();
        if (strata_) {
            share_out(counted);
        }
        if (images_) {
            keep_largest(counted, table);
        }
        check(counted);
        return counted;
    }

  private:
    struct Owner {
        std::uint32_t number{};
        std::uint32_t group{};
        AllocationLedger::Weight weight;
        std::uint64_t serial{};  // of the allocation, from 1
        std::uint64_t size{};
        CallerStrata::Place place;
    };

    void follow_image(const Event& event, const BlockWalk::Change& change)
    {
        ImageBytes& image = images_->of[event.process];
        image.live += change.made ? change.made->size : 0;
        image.live -= change.freed ? change.freed->size : 0;
        image.live -= change.replaced ? change.replaced->size : 0;
        if (image.live > images_->peak_bytes) {
            images_->peak_bytes = image.live;
            images_->largest = {event.process, image.number};
            begin_peak();
        }
    }

    void begin_peak()
    {
        ledger_.begin_peak();
        group_ledger_.begin_peak();
        whole_.begin_peak();
        if (strata_) {
            strata_->begin_peak();
        }
    }

    void keep_largest(CountedAllocations& counted, const StackTable* table) const
    {
        for (std::uint32_t node = 1; table != nullptr && node < counted.of.size(); ++node) {
            if (table->image_of(node) != images_->largest) {
                counted.of[node].peak_bytes = 0;
                counted.of[node].peak_blocks = 0;
            }
        }
        counted.total.peak_bytes = images_->peak_bytes;
        counted.total.peak_blocks = 0;
        for (const AllocationFigures& one : counted.of) {
            counted.total.peak_blocks += one.peak_blocks;
        }
    }

    // What the strata say, in the place of what the sample alone does. An own peak that is not known is the sample's,
    // as far as it can be true: a sampled block stands for many that need not be live together.
    void share_out(CountedAllocations& counted) const
    {
        const auto own_peak = [&](const AllocationFigures& shared, std::uint64_t sampled) {
            const std::uint64_t most = std::min(shared.bytes_allocated, counted.total.own_peak_bytes);
            return std::clamp(sampled, shared.peak_bytes, std::max(shared.peak_bytes, most));
        };
        std::vector<AllocationFigures> of = strata_->figures();
        std::vector<AllocationFigures> groups(counted.groups.size());
        counted.of.resize(of.size());
        for (std::size_t node = 0; node < of.size(); ++node) {
            const std::uint32_t group = node < groups_->size() ? (*groups_)[node] : 0;
            if (!groups_->empty()) {
                groups.resize(std::max<std::size_t>(groups.size(), group + std::size_t{1}));
                trace::add(groups[group], of[node]);
            }
            of[node].own_peak_bytes = own_peak(of[node], counted.of[node].own_peak_bytes);
        }
        counted.groups.resize(groups.size());
        counted.estimated_own_peaks.resize(groups.size());
        for (std::size_t group = 0; group < groups.size(); ++group) {
            const std::uint64_t counted_peak = counted.groups[group].own_peak_bytes;
            groups[group].own_peak_bytes = counted.estimated_own_peaks[group]
                                               ? own_peak(groups[group], counted_peak)
                                               : std::max(counted_peak, groups[group].peak_bytes);
        }
        counted.of = std::move(of);
        counted.groups = std::move(groups);
        counted.has_exact_callers = true;
    }

    // Whatever is counted is counted for exactly one number.
    void check(const CountedAllocations& counted) const
    {
        const auto is_sum = [&](const std::vector<AllocationFigures>& parts) {
            AllocationFigures sum;
            for (const AllocationFigures& part : parts) {
                trace::add(sum, part);
            }
            sum.own_peak_bytes = counted.total.own_peak_bytes;
            return sum == counted.total;
        };
        constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        const bool is_sound = (sampling_.is_exact() || strata_) && !images_ && impossible_event_ == 0 &&
                              counted.total.bytes_allocated != most;
        MEMSWEEP_ASSERT(!is_sound || is_sum(counted.of), "what all have is what the trace has");
        MEMSWEEP_ASSERT(!is_sound || groups_->empty() || is_sum(counted.groups), "each stack is in one group");
        MEMSWEEP_ASSERT(!is_sound || counted.total.peak_bytes == walk_.peak_live_bytes(), "the peak is the trace's");
    }

    std::uint32_t number_of(const Event& event)
    {
        switch (by_) {
        case CountedBy::stack:
            return event.stack;
        case CountedBy::thread:
            return threads_.of({event.process, event.thread});
        case CountedBy::size:
            return sizes_.of(event.size);
        }
        return 0;
    }

    void change(const Event& event)
    {
        const BlockWalk::Change change = walk_.add(event);
        std::uint64_t& last = last_of_thread(event);
        if (change.freed) {
            const Owner& owner = owners_[change.freed->tag];
            free(owner, owner.serial == last);
        }
        last = 0;
        if (change.overflows && impossible_event_ == 0) {
            impossible_event_ = number_of_event_;
        }
        if (change.replaced) {
            free(owners_[change.replaced->tag], false);
        }
        if (change.made) {
            make(event, change.made->tag);
            last = serial_;
        }
        if (images_) {
            follow_image(event, change);
        } else if (walk_.peak_live_bytes() > peak_bytes_) {
            peak_bytes_ = walk_.peak_live_bytes();
            begin_peak();
        }
    }

    std::uint64_t& last_of_thread(const Event& event)
    {
        const ThreadName name{event.process, event.thread};
        if (last_ == nullptr || name != last_name_) {
            last_name_ = name;
            last_ = &last_serials_[name];
        }
        return *last_;
    }

    void make(const Event& event, std::uint32_t tag)
    {
        owners_.resize(std::max<std::size_t>(owners_.size(), std::size_t{tag} + 1));
        const std::uint32_t number = number_of(event);
        const std::uint32_t group = number < groups_->size() ? (*groups_)[number] : 0;
        owners_[tag] = {.number = number, .group = group, .serial = ++serial_, .size = event.size};
        Owner& owner = owners_[tag];
        if (strata_) {
            owner.place = strata_->place_of(number, event.size);
        }
        owner.weight = weight_of(owner);
        ledger_.make(number, owner.weight);
        whole_.make(0, whole_weight(owner));
        if (!groups_->empty()) {
            if (!has_known_group(owner)) {
                has_unknown_blocks_.resize(std::max<std::size_t>(has_unknown_blocks_.size(), group + std::size_t{1}));
                has_unknown_blocks_[group] = true;
            }
            group_ledger_.make(group, group_weight(owner));
        }
        if (strata_) {
            strata_->make(owner.place, owner.size, owner.weight);
        }
    }

    // Of an address alone each block stands for itself.
    [[nodiscard]] AllocationLedger::Weight weight_of(const Owner& owner) const
    {
        if (strata_ && owner.place.sampled == 0) {
            return {unit_, owner.size};
        }
        const bool counts = sampling_.is_exact() || owner.number != 0;
        return counts ? sampling_.weight_of(owner.size) : AllocationLedger::Weight{0, 0};
    }

    [[nodiscard]] AllocationLedger::Weight whole_weight(const Owner& owner) const
    {
        return strata_ ? AllocationLedger::Weight{unit_, owner.size} : owner.weight;
    }

    // Whether it is certain that the block is its group's.
    [[nodiscard]] bool has_known_group(const Owner& owner) const
    {
        return sampling_.is_exact() || (strata_ && known_origins_[strata_->origin_of(owner.place)]);
    }

    [[nodiscard]] AllocationLedger::Weight group_weight(const Owner& owner) const
    {
        return strata_ && has_known_group(owner) ? AllocationLedger::Weight{unit_, owner.size} : owner.weight;
    }

    void free(const Owner& owner, bool is_temporary)
    {
        ledger_.free(owner.number, owner.weight, is_temporary);
        whole_.free(0, whole_weight(owner), is_temporary);
        if (!groups_->empty()) {
            group_ledger_.free(owner.group, group_weight(owner), is_temporary);
        }
        if (strata_) {
            strata_->free(owner.place, owner.size, owner.weight, is_temporary);
        }
    }

    void abandon(const LiveBlock& block)
    {
        const Owner& owner = owners_[block.tag];
        ledger_.abandon(owner.number, owner.weight);
        whole_.abandon(0, whole_weight(owner));
        if (!groups_->empty()) {
            group_ledger_.abandon(owner.group, group_weight(owner));
        }
        if (strata_) {
            strata_->abandon(owner.place, owner.size, owner.weight);
        }
    }

    CountedBy by_;
    StackSampling sampling_;
    const std::vector<std::uint32_t>* groups_;
    std::uint64_t unit_;
    AllocationLedger ledger_;
    AllocationLedger group_ledger_;
    AllocationLedger whole_;
    std::optional<CallerStrata> strata_;
    std::vector<bool> known_origins_;       // by origin, if there are strata and groups
    std::vector<bool> has_unknown_blocks_;  // by group
    std::optional<Images> images_;
    BlockWalk walk_;
    std::vector<Owner> owners_;  // by a live block's tag
    std::uint64_t serial_{};
    std::uint64_t peak_bytes_{};
    std::uint64_t number_of_event_{};
    std::uint64_t impossible_event_{};
    std::map<ThreadName, std::uint64_t>
        last_serials_;  // of the block that each thread made last, if it did nothing since
    std::uint64_t* last_{};
    ThreadName last_name_;
    KeyNumbers<ThreadName, std::map<ThreadName, std::uint32_t>> threads_;
    KeyNumbers<std::uint64_t, std::unordered_map<std::uint64_t, std::uint32_t>> sizes_;
};

}  // namespace

// A block of z bytes is in a sample of mean gap T with a probability of 1 - e^(-z / T).
AllocationLedger::Weight StackSampling::weight_of(std::uint64_t size) const
{
    if (is_exact()) {
        return {1, size};
    }
    const double bytes = static_cast<double>(std::max<std::uint64_t>(size, 1));
    const double stands_for = 1 / -std::expm1(-bytes / static_cast<double>(mean_bytes));
    return {static_cast<std::uint64_t>(std::llround(stands_for * static_cast<double>(unit))),
            size == 0 ? 0 : size + static_cast<std::uint64_t>(std::llround((stands_for - 1) * bytes))};
}

StackSampling sampling_of(const Facts& facts)
{
    const auto fact = facts.find(stacks_fact);
    constexpr std::uint64_t most = 1ULL << 40U;
    const std::uint64_t mean = fact == facts.end() ? 0 : base::parse_number(fact->second).value_or(0);
    return {std::min(mean, most)};
}

CountedAllocations count_allocations(TraceReader& reader, CountedBy by, const std::vector<std::uint32_t>& groups,
                                     PeakOf peak)
{
    AllocationCount count{by, sampling_of(reader.facts()), reader.stacks(), groups, peak};
    Event event;
    while (reader.next(event) && reader.may_hold(count.held())) {
        count.add(event);
    }
    return count.finish(reader.stacks());
}

}  // namespace memsweep::trace
