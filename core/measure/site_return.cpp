#include "core/measure/site_return.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace memsweep::measure {
namespace {

std::uint64_t magnitude(std::int64_t bytes)
{
    return bytes < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(bytes) : static_cast<std::uint64_t>(bytes);
}

ReturnedBytes returned(const RunSpan& whole, const RunSpan& without, std::optional<std::uint64_t> replay_error)
{
    const std::int64_t least = whole.least - without.most;
    const std::int64_t most = whole.most - without.least;
    return {.bytes = whole.median - without.median, .spread = magnitude(most - least), .replay_error = replay_error};
}

}  // namespace

RunSpan span_of(std::vector<std::int64_t> runs)
{
    if (runs.empty()) {
        return {};
    }
    std::ranges::sort(runs);
    return {runs.front(), runs[runs.size() / 2], runs.back()};
}

std::uint64_t heap_bytes(const MemoryLedger& ledger)
{
    constexpr std::array heap{MemoryCategory::live,  MemoryCategory::rounding,  MemoryCategory::headers,
                              MemoryCategory::holes, MemoryCategory::kept_free, MemoryCategory::huge_zero};
    std::uint64_t bytes = 0;
    for (const MemoryCategory category : heap) {
        bytes += ledger.bytes(category);
    }
    return bytes;
}

double ReplayCheck::off() const noexcept
{
    const std::uint64_t expected = std::clamp(resident, measured, measured + never_a_block);
    const auto apart = static_cast<double>(std::max(resident, expected) - std::min(resident, expected));
    return measured == 0 ? (apart == 0 ? 0 : std::numeric_limits<double>::max())
                         : apart / static_cast<double>(measured);
}

std::uint64_t ReplayCheck::error() const noexcept
{
    return std::max(resident, measured) - std::min(resident, measured);
}

std::uint64_t ReplayCheck::error_after_request() const noexcept
{
    return after_request ? magnitude(after_request->resident - static_cast<std::int64_t>(after_request->measured))
                         : error();
}

ReplayCheck replay_check(const ReplayedHeap& whole, const MemoryLedger& ledger, std::optional<std::uint64_t> returned)
{
    const std::uint64_t heap = heap_bytes(ledger);
    ReplayCheck check{.resident = static_cast<std::uint64_t>(std::max<std::int64_t>(whole.held.median, 0)),
                      .measured = heap,
                      .never_a_block = ledger.bytes(MemoryCategory::never_a_block),
                      .after_request = {}};
    if (returned) {
        check.after_request = {.resident = whole.given_back.median, .measured = heap - std::min(heap, *returned)};
    }
    return check;
}

std::uint64_t ReturnedBytes::error() const noexcept
{
    return std::max(spread, replay_error.value_or(0));
}

bool ReturnedBytes::is_told() const noexcept
{
    return error() <= magnitude(bytes) / least_errors;
}

SiteReturn site_return(const ReplayedHeap& whole, const ReplayedHeap& without, std::uint32_t runs,
                       const std::optional<ReplayCheck>& check)
{
    const auto error = [&](auto of) { return check ? std::optional{((*check).*of)()} : std::nullopt; };
    return {.as_it_is = returned(whole.held, without.held, error(&ReplayCheck::error)),
            .after_request = returned(whole.given_back, without.given_back, error(&ReplayCheck::error_after_request)),
            .runs = runs};
}

}  // namespace memsweep::measure
