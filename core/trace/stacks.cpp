#include "core/trace/stacks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "core/base/assert.hpp"
#include "core/base/checked.hpp"
#include "core/base/text.hpp"
#include "core/trace/bounds.hpp"

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

class AllocationCount {
  public:
    AllocationCount(CountedBy by, StackSampling sampling, const std::vector<std::uint32_t>& groups)
        : by_{by}, sampling_{by == CountedBy::stack ? sampling : StackSampling{}}, groups_{&groups},
          unit_{sampling_.is_exact() ? 1 : StackSampling::unit}, ledger_{unit_}, group_ledger_{unit_}, whole_{unit_}
    {
    }

    void add(const Event& event)
    {
        number_of_event_ += event.kind == EventKind::define_space ? 0 : 1;
        if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            walk_.end_process(event.process, [this](const LiveBlock& block) { abandon(block); });
        } else if (is_allocation(event.kind) || event.kind == EventKind::realloc || event.kind == EventKind::free) {
            change(event);
        }
    }

    [[nodiscard]] std::uint64_t held() const
    {
        return walk_.live().count() + threads_.count() * things_of_a_thread + sizes_.count() * 3;
    }

    CountedAllocations finish()
    {
        CountedAllocations counted{.sampling = sampling_,
                                   .total = whole_.figures(0),
                                   .of = ledger_.all(),
                                   .groups = group_ledger_.all(),
                                   .impossible_event = impossible_event_};
        if (by_ == CountedBy::thread) {
            counted.threads = threads_.take();
            counted.of.resize(counted.threads.size());
        }
        counted.sizes = sizes_.take();
        check(counted);
        return counted;
    }

  private:
    struct Owner {
        std::uint32_t number{};
        std::uint32_t group{};
        AllocationLedger::Weight weight;
        std::uint64_t serial{};  // of the allocation, from 1
    };

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
        const bool is_sound = sampling_.is_exact() && impossible_event_ == 0 && counted.total.bytes_allocated != most;
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
        if (walk_.peak_live_bytes() > peak_bytes_) {
            peak_bytes_ = walk_.peak_live_bytes();
            ledger_.begin_peak();
            group_ledger_.begin_peak();
            whole_.begin_peak();
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
        const bool counts = sampling_.is_exact() || number != 0;
        const std::uint32_t group = number < groups_->size() ? (*groups_)[number] : 0;
        owners_[tag] = {number, group, counts ? sampling_.weight_of(event.size) : AllocationLedger::Weight{0, 0},
                        ++serial_};
        const Owner& owner = owners_[tag];
        ledger_.make(number, owner.weight);
        whole_.make(0, owner.weight);
        if (!groups_->empty()) {
            group_ledger_.make(group, owner.weight);
        }
    }

    void free(const Owner& owner, bool is_temporary)
    {
        ledger_.free(owner.number, owner.weight, is_temporary);
        whole_.free(0, owner.weight, is_temporary);
        if (!groups_->empty()) {
            group_ledger_.free(owner.group, owner.weight, is_temporary);
        }
    }

    void abandon(const LiveBlock& block)
    {
        const Owner& owner = owners_[block.tag];
        ledger_.abandon(owner.number, owner.weight);
        whole_.abandon(0, owner.weight);
        if (!groups_->empty()) {
            group_ledger_.abandon(owner.group, owner.weight);
        }
    }

    CountedBy by_;
    StackSampling sampling_;
    const std::vector<std::uint32_t>* groups_;
    std::uint64_t unit_;
    AllocationLedger ledger_;
    AllocationLedger group_ledger_;
    AllocationLedger whole_;
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

void add(AllocationFigures& sum, const AllocationFigures& figures)
{
    sum.allocations += figures.allocations;
    sum.bytes_allocated = base::saturating_add(sum.bytes_allocated, figures.bytes_allocated);
    sum.temporary += figures.temporary;
    sum.peak_bytes += figures.peak_bytes;
    sum.peak_blocks += figures.peak_blocks;
    sum.end_bytes += figures.end_bytes;
    sum.end_blocks += figures.end_blocks;
}

// The first change after a peak keeps what was live at it.
AllocationLedger::Account& AllocationLedger::changing(std::uint32_t number)
{
    if (number >= accounts_.size()) {
        accounts_.resize(number + std::size_t{1});
    }
    Account& account = accounts_[number];
    if (account.seen_peak != peak_) {
        account.seen_peak = peak_;
        account.at_peak = account.live;
    }
    return account;
}

void AllocationLedger::make(std::uint32_t number, const Weight& weight)
{
    Account& account = changing(number);
    account.allocations += weight.count;
    account.bytes_allocated = base::saturating_add(account.bytes_allocated, weight.bytes);
    account.live.bytes += weight.bytes;
    account.live.blocks += weight.count;
    account.own_peak_bytes = std::max(account.own_peak_bytes, account.live.bytes);
}

void AllocationLedger::free(std::uint32_t number, const Weight& weight, bool is_temporary)
{
    Account& account = changing(number);
    account.live.bytes -= weight.bytes;
    account.live.blocks -= weight.count;
    account.temporary += is_temporary ? weight.count : 0;
}

void AllocationLedger::abandon(std::uint32_t number, const Weight& weight)
{
    free(number, weight, false);
    accounts_[number].abandoned.bytes += weight.bytes;
    accounts_[number].abandoned.blocks += weight.count;
}

AllocationFigures AllocationLedger::figures(std::uint32_t number) const
{
    if (number >= accounts_.size()) {
        return {};
    }
    const Account& account = accounts_[number];
    const auto counted = [this](std::uint64_t parts) { return (parts + unit_ / 2) / unit_; };
    const Held& peak = account.seen_peak == peak_ ? account.at_peak : account.live;
    return {.allocations = counted(account.allocations),
            .bytes_allocated = account.bytes_allocated,
            .temporary = counted(account.temporary),
            .peak_bytes = peak_ == 0 ? 0 : peak.bytes,
            .peak_blocks = peak_ == 0 ? 0 : counted(peak.blocks),
            .end_bytes = account.live.bytes + account.abandoned.bytes,
            .end_blocks = counted(account.live.blocks + account.abandoned.blocks),
            .own_peak_bytes = account.own_peak_bytes};
}

std::vector<AllocationFigures> AllocationLedger::all() const
{
    std::vector<AllocationFigures> all;
    all.reserve(accounts_.size());
    for (std::size_t number = 0; number < accounts_.size(); ++number) {
        all.push_back(figures(static_cast<std::uint32_t>(number)));
    }
    return all;
}

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

CountedAllocations count_allocations(TraceReader& reader, CountedBy by, const std::vector<std::uint32_t>& groups)
{
    AllocationCount count{by, sampling_of(reader.facts()), groups};
    Event event;
    while (reader.next(event) && reader.may_hold(count.held())) {
        count.add(event);
    }
    return count.finish();
}

}  // namespace memsweep::trace
