#include "core/transfer/async_copy.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/barrier.hpp"

namespace memsweep::transfer {
namespace {

using base::Expected;

std::uint64_t piece_bytes(const CopyPlan& plan)
{
    const std::uint64_t pieces = plan.options.batch ? 1 : std::max<std::uint64_t>(plan.options.pieces, 1);
    return std::max<std::uint64_t>((plan.job.bytes + pieces - 1) / pieces, 1);
}

std::uint32_t moving_device(const model::TransferSpec& spec)
{
    return spec.exe.number.value_or(driver_of(spec).value_or(0));
}

// Straight from end to end, by one or several copies of a runtime.
class DirectCopy final : public AsyncCopy {
  public:
    [[nodiscard]] static base::Expected<std::unique_ptr<AsyncCopy>>
    make(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan, TransferStatistics& statistics);
    void begin() override;
    [[nodiscard]] base::Expected<Progress> advance() override;
    [[nodiscard]] base::Expected<void> wait() override;
    void settle() noexcept override;

  private:
    DirectCopy(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan, TransferStatistics& statistics)
        : runtime_{runtime}, clock_{clock}, plan_{plan}, statistics_{statistics}
    {
    }
    [[nodiscard]] base::Expected<void> register_host_end();
    [[nodiscard]] base::Expected<bool> has_arrived();
    [[nodiscard]] base::Expected<void> move(std::uint64_t offset_bytes, std::uint64_t bytes);
    void gather();

    device::Runtime& runtime_;
    const sys::Clock& clock_;
    CopyPlan plan_;
    TransferStatistics& statistics_;
    device::Stream stream_;
    device::Memory gathered_;
    device::Memory registered_;  // the host's end, while it is known to the driver
    device::Event end_;
    std::uint64_t asked_bytes_{};
};

// By the processor that calls: copies, writes (from null) or reads (to null).
class HostCopy final : public AsyncCopy {
  public:
    HostCopy(const CopyPlan& plan, TransferStatistics& statistics) : plan_{plan}, statistics_{statistics} {}
    void begin() override { moved_bytes_ = 0; }
    [[nodiscard]] base::Expected<Progress> advance() override;
    [[nodiscard]] base::Expected<void> wait() override { return {}; }
    void settle() noexcept override {}

  private:
    CopyPlan plan_;
    TransferStatistics& statistics_;
    std::uint64_t moved_bytes_{};
    std::uint64_t sum_{};
};

Expected<std::unique_ptr<AsyncCopy>> DirectCopy::make(device::Runtime& runtime, const sys::Clock& clock,
                                                      const CopyPlan& plan, TransferStatistics& statistics)
{
    std::unique_ptr<DirectCopy> made{new DirectCopy{runtime, clock, plan, statistics}};
    made->stream_ = MEMSWEEP_TRY(device::open_stream(runtime, moving_device(plan.job.spec)));
    if (plan.options.batch) {
        made->gathered_ = MEMSWEEP_TRY(device::allocate(
            runtime,
            {.device = moving_device(plan.job.spec), .kind = device::MemoryKind::pinned, .bytes = plan.job.bytes}));
    }
    return made;
}

void DirectCopy::begin()
{
    end_ = {};
    asked_bytes_ = 0;
}

// The processor copies the pieces together, one by one.
void DirectCopy::gather()
{
    const std::uint64_t pieces = std::max<std::uint64_t>(plan_.options.pieces, 1);
    const std::uint64_t each = (plan_.job.bytes + pieces - 1) / pieces;
    for (std::uint64_t at = 0; at < plan_.job.bytes; at += each) {
        std::memcpy(gathered_.host() + at, plan_.src->host() + at, std::min(each, plan_.job.bytes - at));
        ++statistics_.pieces;
    }
    statistics_.gathered_bytes += plan_.job.bytes;
}

Expected<void> DirectCopy::move(std::uint64_t offset_bytes, std::uint64_t bytes)
{
    const bool source_is_registered = registered_.valid() && plan_.src->host() != nullptr;
    const device::Address from = gathered_.valid()      ? gathered_.at(offset_bytes)
                                 : source_is_registered ? registered_.at(offset_bytes)
                                                        : plan_.src->at(offset_bytes);
    const device::Address to =
        registered_.valid() && !source_is_registered ? registered_.at(offset_bytes) : plan_.dst->at(offset_bytes);
    ++statistics_.copies;
    if (plan_.src->is_null()) {
        return runtime_.fill(stream_.id(), to, written_from_null, bytes);
    }
    return plan_.job.spec.exe.kind == model::Mover::Kind::device_kernel
               ? runtime_.copy_by_kernel(stream_.id(), to, from, bytes)
               : runtime_.copy(stream_.id(), to, from, bytes);
}

Expected<void> DirectCopy::register_host_end()
{
    const EndMemory& host = plan_.src->host() != nullptr ? *plan_.src : *plan_.dst;
    const auto began = clock_.now();
    registered_ = MEMSWEEP_TRY(device::adopt(runtime_, moving_device(plan_.job.spec), host.host(), plan_.job.bytes));
    statistics_.register_ns += (clock_.now() - began).count();
    return {};
}

// If the program waited for each piece, all has arrived and nothing more is asked.
Expected<bool> DirectCopy::has_arrived()
{
    if (plan_.options.sync_each) {
        return true;
    }
    if (!end_.valid()) {
        end_ = MEMSWEEP_TRY(device::record(runtime_, stream_));
    }
    if (!MEMSWEEP_TRY(runtime_.happened(end_.id()))) {
        return false;
    }
    MEMSWEEP_TRY(runtime_.wait(stream_.id()));  // what failed after it was queued shows here
    return true;
}

Expected<AsyncCopy::Progress> DirectCopy::advance()
{
    if (asked_bytes_ == 0 && plan_.route.strategy == model::Strategy::registered) {
        MEMSWEEP_TRY(register_host_end());
    }
    if (asked_bytes_ < plan_.job.bytes) {
        if (gathered_.valid()) {
            gather();
        } else {
            ++statistics_.pieces;
        }
        const std::uint64_t bytes = std::min(piece_bytes(plan_), plan_.job.bytes - asked_bytes_);
        MEMSWEEP_TRY(move(asked_bytes_, bytes));
        asked_bytes_ += bytes;
        if (plan_.options.sync_each) {
            MEMSWEEP_TRY(runtime_.wait(stream_.id()));
        }
        return Progress::moved;
    }
    if (!MEMSWEEP_TRY(has_arrived())) {
        return Progress::waiting;
    }
    const auto began = clock_.now();
    MEMSWEEP_TRY(registered_.close());
    statistics_.register_ns += (clock_.now() - began).count();
    return Progress::done;
}

Expected<void> DirectCopy::wait()
{
    return end_.valid() ? runtime_.wait(end_.id()) : Expected<void>{};
}

void DirectCopy::settle() noexcept
{
    static_cast<void>(runtime_.wait(stream_.id()));
    end_ = {};
    static_cast<void>(registered_.close());
}

Expected<AsyncCopy::Progress> HostCopy::advance()
{
    if (moved_bytes_ == plan_.job.bytes) {
        base::keep_stores(&sum_);
        return Progress::done;
    }
    const std::uint64_t most = std::min(piece_bytes(plan_), plan_.options.chunk_bytes);
    const std::uint64_t bytes = std::min(most, plan_.job.bytes - moved_bytes_);
    if (plan_.src->is_null()) {
        std::memset(plan_.dst->host() + moved_bytes_, std::to_integer<int>(written_from_null), bytes);
    } else if (plan_.dst->is_null()) {
        const std::byte* const from = plan_.src->host() + moved_bytes_;
        for (std::uint64_t i = 0; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
            std::uint64_t word{};
            std::memcpy(&word, from + i, sizeof word);
            sum_ += word;
        }
    } else {
        std::memcpy(plan_.dst->host() + moved_bytes_, plan_.src->host() + moved_bytes_, bytes);
    }
    ++statistics_.copies;
    moved_bytes_ += bytes;
    return Progress::moved;
}

}  // namespace

Expected<std::unique_ptr<AsyncCopy>> make_copy(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan,
                                               TransferStatistics& statistics)
{
    switch (plan.route.strategy) {
    case model::Strategy::host:
        return std::make_unique<HostCopy>(plan, statistics);
    case model::Strategy::staged:
        return plan.rings > 1 ? make_striped_copy(runtime, clock, plan, statistics)
                              : make_staged_copy(runtime, clock, plan, statistics);
    case model::Strategy::automatic:
    case model::Strategy::local:
    case model::Strategy::p2p:
    case model::Strategy::pinned:
    case model::Strategy::registered:
    case model::Strategy::direct:
        break;
    }
    return DirectCopy::make(runtime, clock, plan, statistics);
}

}  // namespace memsweep::transfer
