#include "core/transfer/async_copy.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace memsweep::transfer {
namespace {

using base::Expected;
using model::TransferEnd;

std::uint64_t largest_chunk(const model::TransferJob& job, const model::TransferOptions& options)
{
    return std::max<std::uint64_t>(std::min(options.chunk_bytes, job.bytes), 1);
}

std::uint64_t chunks_of(std::uint64_t bytes, std::uint64_t chunk_bytes)
{
    return (bytes + chunk_bytes - 1) / chunk_bytes;
}

std::uint64_t slots_of(const model::TransferJob& job, const model::TransferOptions& options)
{
    const std::uint64_t chunk = largest_chunk(job, options);
    const std::uint64_t needed = options.adaptive ? options.slots : chunks_of(job.bytes, chunk);
    return options.pipeline ? std::clamp<std::uint64_t>(options.slots, 1, std::max<std::uint64_t>(needed, 1)) : 1;
}

// The size of the next chunk: fixed, or following the rate that is seen.
//
// Sources  hill climbing: the size doubles or halves while the rate of four chunks in a row rises, else it turns.
class ChunkSize {
  public:
    // An adaptive size stays between 64 KiB and `largest_bytes`, and begins at an eighth of it.
    ChunkSize(std::uint64_t largest_bytes, bool adaptive) noexcept
        : largest_bytes_{largest_bytes}, smallest_bytes_{std::min(std::uint64_t{64} << 10U, largest_bytes)},
          bytes_{adaptive ? std::clamp(largest_bytes / 8, smallest_bytes_, largest_bytes) : largest_bytes},
          adaptive_{adaptive}
    {
    }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    // Counts a chunk that has gone through its slot. `seconds`: since the one before it had.
    void passed(std::uint64_t bytes, double seconds) noexcept
    {
        if (!adaptive_) {
            return;
        }
        seen_bytes_ += bytes;
        seen_seconds_ += seconds;
        if (++seen_ < chunks_per_look || seen_seconds_ <= 0) {
            return;
        }
        const double rate = static_cast<double>(seen_bytes_) / seen_seconds_;
        if (rate < last_rate_ * worth_noticing) {
            growing_ = !growing_;
        }
        last_rate_ = rate;
        bytes_ = std::clamp(growing_ ? bytes_ * 2 : bytes_ / 2, smallest_bytes_, largest_bytes_);
        seen_ = 0;
        seen_bytes_ = 0;
        seen_seconds_ = 0;
    }

  private:
    static constexpr std::uint32_t chunks_per_look = 4;
    static constexpr double worth_noticing = 1.02;

    std::uint64_t largest_bytes_;
    std::uint64_t smallest_bytes_;
    std::uint64_t bytes_;
    bool adaptive_;
    bool growing_{true};
    std::uint32_t seen_{};
    std::uint64_t seen_bytes_{};
    double seen_seconds_{};
    double last_rate_{};
};

class StagedCopy final : public AsyncCopy {
  public:
    [[nodiscard]] static base::Expected<std::unique_ptr<AsyncCopy>>
    make(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan, TransferStatistics& statistics);
    ~StagedCopy() override;
    StagedCopy(const StagedCopy&) = delete;
    StagedCopy& operator=(const StagedCopy&) = delete;

    void begin() override;
    [[nodiscard]] base::Expected<Progress> advance() override;
    [[nodiscard]] base::Expected<void> wait() override;
    void settle() noexcept override;

  private:
    struct Slot {
        device::Memory memory;
        device::Event begin, half, end;  // around its copies; half: between two of them
        std::uint64_t offset_bytes{};
        std::uint64_t bytes{};

        void forget()
        {
            begin = device::Event{};
            half = device::Event{};
            end = device::Event{};
        }
    };

    StagedCopy(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan, TransferStatistics& statistics);
    [[nodiscard]] base::Expected<bool> retire_oldest();  // false: it is still in flight
    [[nodiscard]] base::Expected<void> send(Slot& slot);
    [[nodiscard]] base::Expected<void> queue_copies(Slot& slot);
    void copy_by_processor(std::byte* to, const std::byte* from, std::uint64_t bytes);
    void note_link_time(const Slot& slot);
    [[nodiscard]] std::uint64_t next_bytes() const;

    device::Runtime& runtime_;
    const sys::Clock& clock_;
    CopyPlan plan_;
    TransferStatistics& statistics_;
    bool from_device_{}, to_device_{};
    device::Stream out_of_, into_;  // the device read from, the device written to
    std::vector<Slot> slots_;
    std::size_t oldest_{}, in_flight_{};
    std::uint64_t sent_bytes_{};
    ChunkSize chunk_;
    std::chrono::nanoseconds last_pass_{};
};

StagedCopy::StagedCopy(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan,
                       TransferStatistics& statistics)
    : runtime_{runtime}, clock_{clock}, plan_{plan}, statistics_{statistics},
      from_device_{plan.job.spec.src.kind == TransferEnd::Kind::device},
      to_device_{plan.job.spec.dst.kind == TransferEnd::Kind::device},
      chunk_{largest_chunk(plan.job, plan.options), plan.options.adaptive}
{
}

Expected<std::unique_ptr<AsyncCopy>> StagedCopy::make(device::Runtime& runtime, const sys::Clock& clock,
                                                      const CopyPlan& plan, TransferStatistics& statistics)
{
    std::unique_ptr<StagedCopy> made{new StagedCopy{runtime, clock, plan, statistics}};
    const model::TransferSpec& spec = plan.job.spec;
    if (made->from_device_) {
        made->out_of_ = MEMSWEEP_TRY(device::open_stream(runtime, spec.src.number.value_or(0)));
    }
    if (made->to_device_) {
        made->into_ = MEMSWEEP_TRY(device::open_stream(runtime, spec.dst.number.value_or(0)));
    }
    const TransferEnd& driver = made->to_device_ ? spec.dst : spec.src;
    for (std::uint64_t i = 0; i < slots_of(plan.job, plan.options); ++i) {
        auto memory = MEMSWEEP_TRY(device::allocate(runtime, {.device = driver.number.value_or(0),
                                                              .kind = device::MemoryKind::pinned,
                                                              .bytes = largest_chunk(plan.job, plan.options)}));
        std::memset(memory.host(), 0, memory.bytes());
        made->slots_.push_back({.memory = std::move(memory), .begin = {}, .half = {}, .end = {}});
    }
    return made;
}

StagedCopy::~StagedCopy()
{
    settle();
}

void StagedCopy::begin()
{
    sent_bytes_ = 0;
    oldest_ = 0;
    in_flight_ = 0;
    last_pass_ = clock_.now();
}

std::uint64_t StagedCopy::next_bytes() const
{
    return std::min(chunk_.bytes(), plan_.job.bytes - sent_bytes_);
}

Expected<AsyncCopy::Progress> StagedCopy::advance()
{
    const bool all_sent = sent_bytes_ == plan_.job.bytes;
    if (all_sent && in_flight_ == 0) {
        return Progress::done;
    }
    if (all_sent || in_flight_ == slots_.size()) {
        return retire_oldest().map([](bool retired) { return retired ? Progress::moved : Progress::waiting; });
    }
    Slot& slot = slots_[(oldest_ + in_flight_) % slots_.size()];
    slot.offset_bytes = plan_.first_byte + sent_bytes_;
    slot.bytes = next_bytes();
    ++in_flight_;
    return send(slot).map([&] {
        sent_bytes_ += slot.bytes;
        return Progress::moved;
    });
}

Expected<void> StagedCopy::send(Slot& slot)
{
    if (!from_device_) {
        copy_by_processor(slot.memory.host(), plan_.src->host() + slot.offset_bytes, slot.bytes);
    }
    ++statistics_.chunks;
    statistics_.staged_bytes += slot.bytes;
    statistics_.largest_chunk_bytes = std::max(statistics_.largest_chunk_bytes, slot.bytes);
    statistics_.smallest_chunk_bytes =
        statistics_.smallest_chunk_bytes == 0 ? slot.bytes : std::min(statistics_.smallest_chunk_bytes, slot.bytes);
    return queue_copies(slot);
}

Expected<void> StagedCopy::queue_copies(Slot& slot)
{
    const device::Stream& first = from_device_ ? out_of_ : into_;
    const device::Address in_slot = slot.memory.at();
    slot.begin = MEMSWEEP_TRY(device::record(runtime_, first));
    ++statistics_.copies;
    MEMSWEEP_TRY(from_device_ ? runtime_.copy(first.id(), in_slot, plan_.src->at(slot.offset_bytes), slot.bytes)
                              : runtime_.copy(first.id(), plan_.dst->at(slot.offset_bytes), in_slot, slot.bytes));
    if (from_device_ && to_device_) {
        slot.half = MEMSWEEP_TRY(device::record(runtime_, out_of_));
        ++statistics_.copies;
        MEMSWEEP_TRY(runtime_.after(into_.id(), slot.half.id()));
        MEMSWEEP_TRY(runtime_.copy(into_.id(), plan_.dst->at(slot.offset_bytes), in_slot, slot.bytes));
    }
    slot.end = MEMSWEEP_TRY(device::record(runtime_, to_device_ ? into_ : out_of_));
    return {};
}

Expected<bool> StagedCopy::retire_oldest()
{
    Slot& slot = slots_[oldest_];
    if (!MEMSWEEP_TRY(runtime_.happened(slot.end.id()))) {
        return false;
    }
    note_link_time(slot);
    if (!to_device_) {
        copy_by_processor(plan_.dst->host() + slot.offset_bytes, slot.memory.host(), slot.bytes);
    }
    const auto now = clock_.now();
    chunk_.passed(slot.bytes, sys::seconds_of(now - last_pass_));
    last_pass_ = now;
    slot.forget();
    oldest_ = (oldest_ + 1) % slots_.size();
    --in_flight_;
    // What failed after it was queued shows where its stream is waited for; the last chunk waits for all of them.
    if (in_flight_ == 0 && sent_bytes_ == plan_.job.bytes) {
        MEMSWEEP_TRY(from_device_ ? runtime_.wait(out_of_.id()) : Expected<void>{});
        MEMSWEEP_TRY(to_device_ ? runtime_.wait(into_.id()) : Expected<void>{});
    }
    return true;
}

void StagedCopy::note_link_time(const Slot& slot)
{
    if (from_device_ && to_device_) {
        return;  // two clocks
    }
    if (const auto took = runtime_.seconds_between(slot.begin.id(), slot.end.id())) {
        statistics_.link_ns += static_cast<std::int64_t>(*took * 1e9);
        ++statistics_.link_timed;
    }
}

void StagedCopy::copy_by_processor(std::byte* to, const std::byte* from, std::uint64_t bytes)
{
    const auto began = clock_.now();
    std::memcpy(to, from, bytes);
    statistics_.host_copy_ns += (clock_.now() - began).count();
}

Expected<void> StagedCopy::wait()
{
    if (in_flight_ == 0) {
        return {};
    }
    const auto began = clock_.now();
    auto done = runtime_.wait(slots_[oldest_].end.id());
    statistics_.staged_wait_ns += (clock_.now() - began).count();
    return done;
}

void StagedCopy::settle() noexcept
{
    if (out_of_.valid()) {
        static_cast<void>(runtime_.wait(out_of_.id()));
    }
    if (into_.valid()) {
        static_cast<void>(runtime_.wait(into_.id()));
    }
    for (Slot& slot : slots_) {
        slot.forget();
    }
    in_flight_ = 0;
}

}  // namespace

std::uint64_t chunk_bytes_of(const model::TransferJob& job, const model::TransferOptions& options,
                             model::Strategy strategy)
{
    constexpr std::uint64_t most = 4U << 20U;
    constexpr std::uint64_t least = 64U << 10U;
    if (options.chunk_bytes != 0) {
        return options.chunk_bytes;
    }
    if (strategy != model::Strategy::staged || options.adaptive) {
        return most;
    }
    std::uint64_t chunk = least;
    for (std::uint64_t bytes = job.bytes / 4; bytes >= least && chunk < most; bytes /= 4) {
        chunk *= 2;
    }
    return chunk;
}

std::uint64_t slot_bytes(const model::TransferJob& job, const model::TransferOptions& options, model::Strategy strategy,
                         std::uint32_t rings)
{
    if (strategy == model::Strategy::staged) {
        std::uint64_t bytes = 0;
        for (const Part& part : parts_of(job, options, rings)) {
            const model::TransferJob of_ring{.spec = job.spec, .bytes = part.bytes};
            bytes += slots_of(of_ring, options) * largest_chunk(of_ring, options);
        }
        return bytes;
    }
    if (strategy == model::Strategy::registered) {
        return job.bytes;
    }
    return options.batch && strategy != model::Strategy::host ? job.bytes : 0;
}

std::vector<Part> parts_of(const model::TransferJob& job, const model::TransferOptions& options, std::uint32_t rings)
{
    const std::uint64_t chunk = largest_chunk(job, options);
    const std::uint64_t chunks = std::max<std::uint64_t>(chunks_of(job.bytes, chunk), 1);
    const std::uint64_t each = chunks_of(chunks, std::max(rings, 1U)) * chunk;
    std::vector<Part> parts;
    for (std::uint64_t first = 0; first < job.bytes || parts.empty(); first += each) {
        parts.push_back({.first_byte = first, .bytes = std::min(each, job.bytes - first)});
    }
    return parts;
}

std::uint32_t rings_of(const model::TransferJob& job, const model::TransferOptions& options, const StagingMeans& means)
{
    constexpr std::uint64_t most = 8;
    if (job.spec.src.kind == TransferEnd::Kind::device && job.spec.dst.kind == TransferEnd::Kind::device) {
        return 1;
    }
    const std::uint64_t chunks = std::max<std::uint64_t>(chunks_of(job.bytes, largest_chunk(job, options)), 1);
    if (options.threads != 0) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(options.threads, chunks));
    }
    const std::uint64_t own = means.processors / 2 / std::max<std::size_t>(means.transfers_at_once, 1);
    std::uint64_t rings = options.pipeline ? std::min({most, own, chunks / std::max(options.slots, 1U)}) : 1;
    const auto pinned = [&] {
        return slot_bytes(job, options, model::Strategy::staged, static_cast<std::uint32_t>(rings));
    };
    while (rings > 1 && pinned() > means.slots_bytes) {
        rings /= 2;
    }
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(rings, 1));
}

Expected<std::unique_ptr<AsyncCopy>> make_staged_copy(device::Runtime& runtime, const sys::Clock& clock,
                                                      const CopyPlan& plan, TransferStatistics& statistics)
{
    return StagedCopy::make(runtime, clock, plan, statistics);
}

}  // namespace memsweep::transfer
