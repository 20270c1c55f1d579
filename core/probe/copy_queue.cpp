#include "core/probe/copy_queue.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

namespace memsweep::probe {
namespace {

using base::Expected;
using device::Access;
using device::MemoryKind;

constexpr std::byte poison{0xA5};
constexpr std::size_t kept_queued = 2;  // copies of the other queue, so that it never runs dry
// Of copies. Drivers block who queues about a thousand, and then only the latch's own timeout lets go.
constexpr std::uint64_t max_behind_latch = 256;
constexpr std::uint64_t warm_up_behind_latch = 4;  // before the first event: as many as nvbandwidth's

// Lets the processor work on a block, which is mapped first where that is needed.
template <typename Work>
Expected<void> on_host(device::Runtime& runtime, const device::Memory& memory, Access access, const Work& work)
{
    if (memory.host() != nullptr) {
        work(memory.host());
        return {};
    }
    work(MEMSWEEP_TRY(runtime.map(memory.id(), access)));
    return runtime.unmap(memory.id());
}

bool on_device(MemoryKind kind)
{
    return kind == MemoryKind::device || kind == MemoryKind::stream_ordered;
}

}  // namespace

Expected<double> seconds_behind_latch(device::Runtime& runtime, const device::Stream& stream, const Enqueue& enqueue,
                                      const Meanwhile& meanwhile, const Enqueue& before)
{
    auto latch = MEMSWEEP_TRY(device::hold(runtime, stream));
    const auto warmed_up = before ? before() : Expected<void>{};
    const auto begin = device::record(runtime, stream);
    const auto queued = enqueue();
    const auto end = device::record(runtime, stream);
    const auto let_go = latch.close();
    if (meanwhile) {
        meanwhile();
    }
    const auto done = runtime.wait(stream.id());
    MEMSWEEP_TRY(warmed_up);
    MEMSWEEP_TRY(queued);
    MEMSWEEP_TRY(let_go);
    MEMSWEEP_TRY(done);
    if (!begin || !end) {
        return base::fail(begin ? end.error() : begin.error());
    }
    return runtime.seconds_between(begin->id(), end->id());
}

namespace {

// The sum of run(copies of a batch, whether it is the first) over batches of so many copies, at most so many each.
template <typename Run>
auto sum_of_batches(std::uint64_t copies, std::uint64_t most, const Run& run) -> decltype(run(copies, true))
{
    auto all = run(std::min(copies, most), true);
    for (std::uint64_t done = most; all && done < copies; done += most) {
        auto batch = run(std::min(copies - done, most), false);
        if (!batch) {
            return batch;
        }
        *all += *batch;
    }
    return all;
}

// Streams of one device may share a queue of its driver.
std::uint64_t most_on_one_device(const std::vector<CopyQueue>& queues)
{
    std::map<std::uint32_t, std::uint64_t> by_device;
    std::uint64_t most = 1;
    for (const CopyQueue& queue : queues) {
        most = std::max(most, ++by_device[queue.spec().stream_device]);
    }
    return most;
}

}  // namespace

Expected<CopyQueue> CopyQueue::open(device::Runtime& runtime, const CopySpec& spec)
{
    CopyQueue queue{runtime, spec};
    queue.stream_ = MEMSWEEP_TRY(device::open_stream(runtime, spec.stream_device));
    if (spec.streams_at_once > 1) {
        MEMSWEEP_TRY(runtime.share_device(queue.stream_.id(), spec.streams_at_once));
    }
    for (const auto& [end, memory] : {std::pair{&spec.from, &queue.from_}, std::pair{&spec.to, &queue.to_}}) {
        *memory = MEMSWEEP_TRY(device::allocate(
            runtime, {.device = end->device, .kind = end->kind, .bytes = spec.bytes, .stream = queue.stream_.id()}));
    }
    MEMSWEEP_TRY(queue.write_source());
    return queue;
}

bool CopyQueue::is_timed_by_events() const noexcept
{
    return spec_.from.kind != MemoryKind::pageable && spec_.to.kind != MemoryKind::pageable;
}

std::uint64_t CopyQueue::warm_up_copies() const noexcept
{
    return spec_.renewed ? 0 : warm_up_behind_latch;  // what moves at its first use has moved after it
}

const std::byte* CopyQueue::host_memory() const noexcept
{
    return from_.host() != nullptr ? from_.host() : to_.host();
}

// Writes the pattern, or one value throughout.
Expected<void> CopyQueue::write_end(device::Memory& memory, std::optional<std::byte> value)
{
    if (on_device(memory.kind())) {
        MEMSWEEP_TRY(value ? runtime_->fill(stream_.id(), memory.at(), *value, spec_.bytes)
                           : runtime_->write_pattern(stream_.id(), memory.at(), spec_.bytes, {.seed = spec_.seed}));
        return runtime_->wait(stream_.id());
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
        MEMSWEEP_TRY(write_source());
    }
    return write_end(to_, poison);
}

Expected<void> CopyQueue::enqueue(std::uint64_t copies)
{
    for (std::uint64_t copy = 0; copy < copies; ++copy) {
        MEMSWEEP_TRY(spec_.by_kernel ? runtime_->copy_by_kernel(stream_.id(), to_.at(), from_.at(), spec_.bytes)
                                     : runtime_->copy(stream_.id(), to_.at(), from_.at(), spec_.bytes));
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
    const auto look = [&](std::byte* host) { found = device::check_pattern({host, spec_.bytes}, pattern); };
    MEMSWEEP_TRY(on_host(*runtime_, to_, Access::read, look));
    return found;
}

Expected<double> CopyQueue::run(std::uint64_t copies, const sys::Clock& clock, const Meanwhile& meanwhile)
{
    if (is_timed_by_events()) {
        const std::uint64_t warm_up = warm_up_copies();
        return sum_of_batches(copies, max_behind_latch - warm_up, [&](std::uint64_t batch, bool is_first) {
            return seconds_behind_latch(
                *runtime_, stream_, [&] { return enqueue(batch); }, is_first ? meanwhile : Meanwhile{},
                [&] { return enqueue(warm_up); });
        });
    }
    const auto begin = clock.now();
    MEMSWEEP_TRY(enqueue(copies));
    MEMSWEEP_TRY(runtime_->wait(stream_.id()));
    return sys::seconds_of(clock.now() - begin);
}

namespace {

Expected<double> batch_together(device::Runtime& runtime, std::vector<CopyQueue>& queues, std::uint64_t copies,
                                const sys::Clock& clock)
{
    std::vector<device::Latch> latches;
    for (CopyQueue& queue : queues) {
        latches.push_back(MEMSWEEP_TRY(device::hold(runtime, queue.stream())));
        MEMSWEEP_TRY(queue.enqueue(copies));
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
    MEMSWEEP_TRY(all);
    return sys::seconds_of(clock.now() - begin);
}

Expected<Contended> batch_contended(device::Runtime& runtime, CopyQueue& measured, CopyQueue& other,
                                    std::uint64_t copies, const sys::Clock& clock, const Meanwhile& meanwhile)
{
    auto held = MEMSWEEP_TRY(device::hold(runtime, measured.stream()));
    auto other_held = MEMSWEEP_TRY(device::hold(runtime, other.stream()));
    MEMSWEEP_TRY(measured.enqueue(measured.warm_up_copies()));
    const auto begin = MEMSWEEP_TRY(device::record(runtime, measured.stream()));
    MEMSWEEP_TRY(measured.enqueue(copies));
    const auto end = MEMSWEEP_TRY(device::record(runtime, measured.stream()));
    std::deque<device::Event> ahead;
    const auto add_one = [&]() -> Expected<void> {
        MEMSWEEP_TRY(other.enqueue(1));
        ahead.push_back(MEMSWEEP_TRY(device::record(runtime, other.stream())));
        return {};
    };
    for (std::size_t i = 0; i < kept_queued; ++i) {
        MEMSWEEP_TRY(add_one());
    }
    Contended result;
    const auto let_go = other_held.close().and_then([&] { return held.close(); });
    const auto started = clock.now();
    if (meanwhile) {
        meanwhile();
    }
    for (bool done = !let_go; !done;) {
        done = MEMSWEEP_TRY(runtime.happened(end.id()));
        if (MEMSWEEP_TRY(runtime.happened(ahead.front().id()))) {
            result.other_bytes += other.spec().bytes;
            ahead.pop_front();
            MEMSWEEP_TRY(add_one());
        }
    }
    const double waited = sys::seconds_of(clock.now() - started);
    const auto all_done = runtime.wait(measured.stream().id());
    const auto others_done = runtime.wait(other.stream().id());
    MEMSWEEP_TRY(let_go);
    MEMSWEEP_TRY(all_done);
    MEMSWEEP_TRY(others_done);
    result.seconds = MEMSWEEP_TRY(runtime.seconds_between(begin.id(), end.id()));
    // What the other queue moved was counted over the processor's span, which is the longer of the two.
    const double share = waited > 0 ? std::min(result.seconds / waited, 1.0) : 0;
    result.other_bytes = static_cast<std::uint64_t>(static_cast<double>(result.other_bytes) * share);
    return result;
}

}  // namespace

Expected<double> run_together(device::Runtime& runtime, std::vector<CopyQueue>& queues, std::uint64_t copies,
                              const sys::Clock& clock)
{
    const std::uint64_t most = std::max<std::uint64_t>(max_behind_latch / most_on_one_device(queues), 1);
    return sum_of_batches(copies, most, [&](std::uint64_t batch, bool /*is_first*/) {
        return batch_together(runtime, queues, batch, clock);
    });
}

Expected<Contended> run_contended(device::Runtime& runtime, CopyQueue& measured, CopyQueue& other, std::uint64_t copies,
                                  const sys::Clock& clock, const Meanwhile& meanwhile)
{
    const std::uint64_t most = max_behind_latch - measured.warm_up_copies();
    return sum_of_batches(copies, most, [&](std::uint64_t batch, bool is_first) {
        return batch_contended(runtime, measured, other, batch, clock, is_first ? meanwhile : Meanwhile{});
    });
}

}  // namespace memsweep::probe
