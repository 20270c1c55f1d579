#include "core/transfer/transfer_statistics.hpp"

#include <algorithm>
#include <numeric>

namespace memsweep::transfer {
namespace {

std::optional<double> quotient(double a, double b)
{
    return b > 0 ? std::optional{a / b} : std::nullopt;
}

double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) * 1e-9;
}

}  // namespace

TransferStatistics& TransferStatistics::operator+=(const TransferStatistics& other) noexcept
{
    const auto lowest = [](std::uint64_t a, std::uint64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes.at(i) += other.bytes.at(i);
        transfers.at(i) += other.transfers.at(i);
    }
    pieces += other.pieces;
    copies += other.copies;
    chunks += other.chunks;
    staged_bytes += other.staged_bytes;
    gathered_bytes += other.gathered_bytes;
    retries += other.retries;
    failed += other.failed;
    wall_ns += other.wall_ns;
    individual_ns += other.individual_ns;
    most_at_once = std::max(most_at_once, other.most_at_once);
    host_copy_ns += other.host_copy_ns;
    link_ns += other.link_ns;
    staged_wait_ns += other.staged_wait_ns;
    link_timed += other.link_timed;
    wait_ns += other.wait_ns;
    smallest_chunk_bytes = lowest(smallest_chunk_bytes, other.smallest_chunk_bytes);
    largest_chunk_bytes = std::max(largest_chunk_bytes, other.largest_chunk_bytes);
    pinned_bytes_peak = std::max(pinned_bytes_peak, other.pinned_bytes_peak);
    memory_ns += other.memory_ns;
    register_ns += other.register_ns;
    wrong_bytes += other.wrong_bytes;
    checked_bytes += other.checked_bytes;
    return *this;
}

void TransferStatistics::count_transfer(Direction direction, std::uint64_t arrived_bytes, std::int64_t took_ns) noexcept
{
    const auto index = static_cast<std::size_t>(direction);
    bytes.at(index) += arrived_bytes;
    ++transfers.at(index);
    individual_ns += took_ns;
}

std::uint64_t TransferStatistics::all_bytes() const noexcept
{
    return std::reduce(bytes.begin(), bytes.end());
}

std::uint64_t TransferStatistics::all_transfers() const noexcept
{
    return std::reduce(transfers.begin(), transfers.end());
}

std::optional<double> TransferStatistics::aggregate_rate() const noexcept
{
    return quotient(static_cast<double>(all_bytes()), seconds(wall_ns));
}

std::optional<double> TransferStatistics::average_at_once() const noexcept
{
    return quotient(seconds(individual_ns), seconds(wall_ns));
}

std::optional<double> TransferStatistics::concurrency_benefit() const noexcept
{
    return quotient(seconds(individual_ns - wall_ns), seconds(individual_ns));
}

std::optional<double> TransferStatistics::overlap() const noexcept
{
    if (link_timed == 0 || link_timed != chunks) {
        return std::nullopt;
    }
    // Slots that are on their way while their ring does something else: what the calls themselves take, of many rings a
    // good part of the time of one, hides nothing and is no waiting either.
    const auto shorter = static_cast<double>(std::min(host_copy_ns, link_ns));
    const auto hidden = static_cast<double>(link_ns - staged_wait_ns);
    const auto share = quotient(hidden, shorter);
    return share ? std::optional{std::clamp(*share, 0.0, 1.0)} : std::nullopt;
}

}  // namespace memsweep::transfer
