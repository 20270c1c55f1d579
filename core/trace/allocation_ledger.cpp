#include "core/trace/allocation_ledger.hpp"

#include <algorithm>

#include "core/base/checked.hpp"

namespace memsweep::trace {

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

}  // namespace memsweep::trace
