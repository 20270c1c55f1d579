#include "core/transfer/staged_carry.hpp"

#include <algorithm>
#include <cstring>

namespace memsweep::transfer {
namespace {

using base::Expected;
using model::Place;

std::uint64_t largest_chunk(const model::TransferJob& job, const model::TransferOptions& options)
{
    return std::max<std::uint64_t>(std::min(options.chunk_bytes, job.bytes), 1);
}

std::uint64_t slots_of(const model::TransferJob& job, const model::TransferOptions& options)
{
    const std::uint64_t chunk = largest_chunk(job, options);
    const std::uint64_t needed = options.adaptive ? options.slots : (job.bytes + chunk - 1) / chunk;
    return options.pipeline ? std::clamp<std::uint64_t>(options.slots, 1, std::max<std::uint64_t>(needed, 1)) : 1;
}

double seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration<double>(time).count();
}

}  // namespace

std::uint64_t slot_bytes(const model::TransferJob& job, const model::TransferOptions& options, model::Strategy strategy)
{
    if (strategy == model::Strategy::staged) {
        return slots_of(job, options) * largest_chunk(job, options);
    }
    if (strategy == model::Strategy::registered) {
        return job.bytes;
    }
    return options.batch && strategy != model::Strategy::host ? job.bytes : 0;
}

StagedCarry::StagedCarry(device::Runtime& runtime, const sys::Clock& clock, const CarryPlan& plan,
                         TransferStatistics& statistics)
    : runtime_{runtime}, clock_{clock}, plan_{plan}, statistics_{statistics},
      from_device_{plan.job.spec.src.kind == Place::Kind::device},
      to_device_{plan.job.spec.dst.kind == Place::Kind::device},
      chunk_{largest_chunk(plan.job, plan.options), plan.options.adaptive}
{
}

Expected<std::unique_ptr<Carry>> StagedCarry::make(device::Runtime& runtime, const sys::Clock& clock,
                                                   const CarryPlan& plan, TransferStatistics& statistics)
{
    std::unique_ptr<StagedCarry> made{new StagedCarry{runtime, clock, plan, statistics}};
    const auto open = [&](const Place& place, device::Stream& into) -> Expected<void> {
        return device::open_stream(runtime, place.number.value_or(0)).map([&](device::Stream stream) {
            into = std::move(stream);
        });
    };
    const auto opened = made->from_device_ ? open(plan.job.spec.src, made->out_of_) : Expected<void>{};
    const auto other = made->to_device_ ? open(plan.job.spec.dst, made->into_) : Expected<void>{};
    if (!opened || !other) {
        return base::fail(!opened ? opened.error() : other.error());
    }
    const Place& driver = made->to_device_ ? plan.job.spec.dst : plan.job.spec.src;
    for (std::uint64_t i = 0; i < slots_of(plan.job, plan.options); ++i) {
        auto memory = device::allocate(runtime, {.device = driver.number.value_or(0),
                                                 .kind = device::MemoryKind::pinned,
                                                 .bytes = largest_chunk(plan.job, plan.options)});
        if (!memory) {
            return base::fail(memory.error());
        }
        std::memset(memory->host(), 0, memory->bytes());
        made->slots_.push_back({.memory = *std::move(memory), .begin = {}, .half = {}, .end = {}});
    }
    return made;
}

StagedCarry::~StagedCarry()
{
    settle();
}

void StagedCarry::begin()
{
    sent_bytes_ = 0;
    oldest_ = 0;
    under_way_ = 0;
    began_ = last_pass_ = clock_.now();
}

std::uint64_t StagedCarry::next_bytes() const
{
    return std::min(chunk_.bytes(), plan_.job.bytes - sent_bytes_);
}

Expected<Carry::Progress> StagedCarry::advance()
{
    const bool all_sent = sent_bytes_ == plan_.job.bytes;
    if (all_sent && under_way_ == 0) {
        statistics_.staged_wall_ns += (clock_.now() - began_).count();
        return Progress::done;
    }
    if (all_sent || under_way_ == slots_.size()) {
        return retire_oldest().map([](bool retired) { return retired ? Progress::moved : Progress::waiting; });
    }
    Slot& slot = slots_[(oldest_ + under_way_) % slots_.size()];
    slot.offset_bytes = sent_bytes_;
    slot.bytes = next_bytes();
    ++under_way_;
    return send(slot).map([&] {
        sent_bytes_ += slot.bytes;
        return Progress::moved;
    });
}

Expected<void> StagedCarry::send(Slot& slot)
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

Expected<device::Event> StagedCarry::mark(const device::Stream& stream)
{
    return device::record(runtime_, stream);
}

Expected<void> StagedCarry::queue_copies(Slot& slot)
{
    const device::Stream& first = from_device_ ? out_of_ : into_;
    const device::Address in_slot = slot.memory.at();
    auto begin = mark(first);
    if (!begin) {
        return base::fail(begin.error());
    }
    slot.begin = *std::move(begin);
    ++statistics_.copies;
    auto asked = from_device_ ? runtime_.copy(first.id(), in_slot, plan_.src->at(slot.offset_bytes), slot.bytes)
                              : runtime_.copy(first.id(), plan_.dst->at(slot.offset_bytes), in_slot, slot.bytes);
    if (!asked) {
        return asked;
    }
    if (from_device_ && to_device_) {
        auto half = mark(out_of_);
        if (!half) {
            return base::fail(half.error());
        }
        slot.half = *std::move(half);
        ++statistics_.copies;
        auto second = runtime_.after(into_.id(), slot.half.id()).and_then([&] {
            return runtime_.copy(into_.id(), plan_.dst->at(slot.offset_bytes), in_slot, slot.bytes);
        });
        if (!second) {
            return second;
        }
    }
    return mark(to_device_ ? into_ : out_of_).map([&](device::Event end) { slot.end = std::move(end); });
}

Expected<bool> StagedCarry::retire_oldest()
{
    Slot& slot = slots_[oldest_];
    auto happened = runtime_.happened(slot.end.id());
    if (!happened || !*happened) {
        return happened;
    }
    note_link_time(slot);
    if (!to_device_) {
        copy_by_processor(plan_.dst->host() + slot.offset_bytes, slot.memory.host(), slot.bytes);
    }
    const auto now = clock_.now();
    chunk_.passed(slot.bytes, seconds(now - last_pass_));
    last_pass_ = now;
    slot.forget();
    oldest_ = (oldest_ + 1) % slots_.size();
    --under_way_;
    // What failed after it was queued shows where its stream is waited for; the last chunk waits for all of them.
    if (under_way_ == 0 && sent_bytes_ == plan_.job.bytes) {
        const auto out = from_device_ ? runtime_.wait(out_of_.id()) : Expected<void>{};
        const auto in = to_device_ ? runtime_.wait(into_.id()) : Expected<void>{};
        if (!out || !in) {
            return base::fail(!out ? out.error() : in.error());
        }
    }
    return true;
}

void StagedCarry::note_link_time(const Slot& slot)
{
    if (from_device_ && to_device_) {
        return;  // two clocks
    }
    if (const auto took = runtime_.seconds_between(slot.begin.id(), slot.end.id())) {
        statistics_.link_ns += static_cast<std::int64_t>(*took * 1e9);
        ++statistics_.link_timed;
    }
}

void StagedCarry::copy_by_processor(std::byte* to, const std::byte* from, std::uint64_t bytes)
{
    const auto began = clock_.now();
    std::memcpy(to, from, bytes);
    statistics_.host_copy_ns += (clock_.now() - began).count();
}

Expected<void> StagedCarry::wait()
{
    return under_way_ == 0 ? Expected<void>{} : runtime_.wait(slots_[oldest_].end.id());
}

void StagedCarry::settle() noexcept
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
    under_way_ = 0;
}

}  // namespace memsweep::transfer
