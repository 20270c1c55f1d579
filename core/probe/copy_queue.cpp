#include "core/probe/copy_queue.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

namespace memsweep::probe {
namespace {

using base::Expected;
using device::Access;
using device::MemoryKind;

constexpr std::byte poison{0xA5};
constexpr std::size_t kept_queued = 2;  // copies of the other queue, so that it never runs dry

// Lets the processor work on a block, which is mapped first where that is needed.
template <typename Work>
Expected<void> on_host(device::Runtime& runtime, const device::Memory& memory, Access access, const Work& work)
{
    if (memory.host() != nullptr) {
        work(memory.host());
        return {};
    }
    return runtime.map(memory.id(), access).and_then([&](std::byte* host) {
        work(host);
        return runtime.unmap(memory.id());
    });
}

bool on_device(MemoryKind kind)
{
    return kind == MemoryKind::device || kind == MemoryKind::stream_ordered;
}

}  // namespace

Expected<double> seconds_behind_latch(device::Runtime& runtime, const device::Stream& stream,
                                      const std::function<Expected<void>()>& enqueue, const Meanwhile& meanwhile)
{
    auto latch = device::hold(runtime, stream);
    if (!latch) {
        return base::fail(latch.error());
    }
    const auto begin = device::record(runtime, stream);
    const auto queued = enqueue();
    const auto end = device::record(runtime, stream);
    const auto let_go = latch->close();
    if (meanwhile) {
        meanwhile();
    }
    const auto done = runtime.wait(stream.id());
    for (const auto& outcome : {queued, let_go, done}) {
        if (!outcome) {
            return base::fail(outcome.error());
        }
    }
    if (const auto* const error = base::first_error(begin, end)) {
        return base::fail(*error);
    }
    return runtime.seconds_between(begin->id(), end->id());
}

Expected<CopyQueue> CopyQueue::open(device::Runtime& runtime, const CopySpec& spec)
{
    CopyQueue queue{runtime, spec};
    auto stream = device::open_stream(runtime, spec.stream_device);
    if (!stream) {
        return base::fail(stream.error());
    }
    queue.stream_ = *std::move(stream);
    for (const auto& [end, memory] : {std::pair{&spec.from, &queue.from_}, std::pair{&spec.to, &queue.to_}}) {
        auto made = device::allocate(
            runtime, {.device = end->device, .kind = end->kind, .bytes = spec.bytes, .stream = queue.stream_.id()});
        if (!made) {
            return base::fail(made.error());
        }
        *memory = *std::move(made);
    }
    if (auto written = queue.write_source(); !written) {
        return base::fail(written.error());
    }
    return queue;
}

bool CopyQueue::is_timed_by_events() const noexcept
{
    return spec_.from.kind != MemoryKind::pageable && spec_.to.kind != MemoryKind::pageable;
}

const std::byte* CopyQueue::host_memory() const noexcept
{
    return from_.host() != nullptr ? from_.host() : to_.host();
}

// Writes the pattern, or one value throughout.
Expected<void> CopyQueue::write_end(device::Memory& memory, std::optional<std::byte> value)
{
    if (on_device(memory.kind())) {
        auto queued = value ? runtime_->fill(stream_.id(), memory.at(), *value, spec_.bytes)
                            : runtime_->write_pattern(stream_.id(), memory.at(), spec_.bytes, {.seed = spec_.seed});
        return queued ? runtime_->wait(stream_.id()) : queued;
    }
    return on_host(*runtime_, memory, Access::write, [&](std::byte* host) {
        if (value) {
            std::memset(host, std::to_integer<int>(*value), spec_.bytes);
        } else {
            device::write_pattern({host, spec_.bytes}, {.seed = spec_.seed});
        }
    });
}

Expected<void> CopyQueue::write_source()
{
    return write_end(from_, std::nullopt);
}

Expected<void> CopyQueue::prepare()
{
    if (spec_.renewed) {
        if (auto written = write_source(); !written) {
            return written;
        }
    }
    return write_end(to_, poison);
}

Expected<void> CopyQueue::enqueue(std::uint64_t copies)
{
    for (std::uint64_t copy = 0; copy < copies; ++copy) {
        auto queued = spec_.by_kernel ? runtime_->copy_by_kernel(stream_.id(), to_.at(), from_.at(), spec_.bytes)
                                      : runtime_->copy(stream_.id(), to_.at(), from_.at(), spec_.bytes);
        if (!queued) {
            return queued;
        }
    }
    return {};
}

Expected<device::Mismatch> CopyQueue::verify()
{
    const device::Pattern pattern{.seed = spec_.seed};
    if (on_device(to_.kind())) {
        return runtime_->check_pattern(stream_.id(), to_.at(), spec_.bytes, pattern);
    }
    device::Mismatch found;
    return on_host(*runtime_, to_, Access::read,
                   [&](std::byte* host) {
                       found = device::check_pattern({host, spec_.bytes}, pattern);
                   })
        .map([&] { return found; });
}

Expected<double> CopyQueue::run(std::uint64_t copies, const sys::Clock& clock, const Meanwhile& meanwhile)
{
    if (is_timed_by_events()) {
        return seconds_behind_latch(
            *runtime_, stream_, [&] { return enqueue(copies); }, meanwhile);
    }
    const auto begin = clock.now();
    return enqueue(copies).and_then([&] { return runtime_->wait(stream_.id()); }).map([&] {
        return sys::seconds_of(clock.now() - begin);
    });
}

Expected<double> run_together(device::Runtime& runtime, std::vector<CopyQueue>& queues, std::uint64_t copies,
                              const sys::Clock& clock)
{
    std::vector<device::Latch> latches;
    Expected<void> queued;
    for (CopyQueue& queue : queues) {
        auto latch = device::hold(runtime, queue.stream());
        if (!latch) {
            return base::fail(latch.error());
        }
        latches.push_back(*std::move(latch));
        if (queued = queue.enqueue(copies); !queued) {
            return base::fail(queued.error());
        }
    }
    const auto begin = clock.now();
    Expected<void> all;
    for (device::Latch& latch : latches) {
        if (auto let_go = latch.close(); !let_go) {
            all = let_go;
        }
    }
    for (const CopyQueue& queue : queues) {
        if (auto done = runtime.wait(queue.stream().id()); !done) {
            all = done;
        }
    }
    return all.map([&] { return sys::seconds_of(clock.now() - begin); });
}

Expected<Contended> run_contended(device::Runtime& runtime, CopyQueue& measured, CopyQueue& other, std::uint64_t copies,
                                  const sys::Clock& clock, const Meanwhile& meanwhile)
{
    auto held = device::hold(runtime, measured.stream());
    auto other_held = device::hold(runtime, other.stream());
    if (const auto* const error = base::first_error(held, other_held)) {
        return base::fail(*error);
    }
    const auto begin = device::record(runtime, measured.stream());
    const auto queued = measured.enqueue(copies);
    const auto end = device::record(runtime, measured.stream());
    if (const auto* const error = base::first_error(begin, queued, end)) {
        return base::fail(*error);
    }
    std::deque<device::Event> ahead;
    const auto add_one = [&]() -> Expected<void> {
        return other.enqueue(1).and_then([&] { return device::record(runtime, other.stream()); }).map([&](auto event) {
            ahead.push_back(std::move(event));
        });
    };
    for (std::size_t i = 0; i < kept_queued; ++i) {
        if (auto added = add_one(); !added) {
            return base::fail(added.error());
        }
    }
    Contended result;
    const auto let_go = other_held->close().and_then([&] { return held->close(); });
    const auto started = clock.now();
    if (meanwhile) {
        meanwhile();
    }
    for (bool done = !let_go; !done;) {
        const auto finished = runtime.happened(end->id());
        const auto front = runtime.happened(ahead.front().id());
        if (const auto* const error = base::first_error(finished, front)) {
            return base::fail(*error);
        }
        done = *finished;
        if (*front) {
            result.other_bytes += other.spec().bytes;
            ahead.pop_front();
            if (auto added = add_one(); !added) {
                return base::fail(added.error());
            }
        }
    }
    const double waited = sys::seconds_of(clock.now() - started);
    const auto all_done =
        runtime.wait(measured.stream().id()).and_then([&] { return runtime.wait(other.stream().id()); });
    if (const auto* const error = base::first_error(let_go, all_done)) {
        return base::fail(*error);
    }
    return runtime.seconds_between(begin->id(), end->id()).map([&](double seconds) {
        // What the other queue moved was counted over the processor's span, which is the longer of the two.
        const double share = waited > 0 ? std::min(seconds / waited, 1.0) : 0;
        result.other_bytes = static_cast<std::uint64_t>(static_cast<double>(result.other_bytes) * share);
        result.seconds = seconds;
        return result;
    });
}

}  // namespace memsweep::probe
