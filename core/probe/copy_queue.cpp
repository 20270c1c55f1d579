#include "core/probe/copy_queue.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace memsweep::probe {
namespace {

using base::Expected;
using device::Access;
using device::MemoryKind;

constexpr std::byte poison{0xA5};
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
    queue.from_ = MEMSWEEP_TRY(queue.make_end(spec.from));
    queue.to_ = MEMSWEEP_TRY(queue.make_end(spec.to));
    MEMSWEEP_TRY(queue.write_source());
    return queue;
}

Expected<CopyQueue::End> CopyQueue::make_end(const CopyEnd& spec) const
{
    End end;
    end.memory = MEMSWEEP_TRY(device::allocate(
        *runtime_, {.device = spec.device, .kind = spec.kind, .bytes = spec_.bytes, .stream = stream_.id()}));
    if (on_device(spec.kind) && spec.device != spec_.stream_device) {
        end.owner = MEMSWEEP_TRY(device::open_stream(*runtime_, spec.device));
    }
    return end;
}

const device::Stream& CopyQueue::owner_of(const End& end) const noexcept
{
    return end.owner.valid() ? end.owner : stream_;
}

bool CopyQueue::is_between_devices() const noexcept
{
    return on_device(spec_.from.kind) && on_device(spec_.to.kind) && spec_.from.device != spec_.to.device;
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
    return from_.memory.host() != nullptr ? from_.memory.host() : to_.memory.host();
}

// Writes the pattern, or one value throughout.
Expected<void> CopyQueue::write_end(End& end, std::optional<std::byte> value)
{
    const device::Memory& memory = end.memory;
    if (on_device(memory.kind())) {
        const device::StreamId owner = owner_of(end).id();
        MEMSWEEP_TRY(value ? runtime_->fill(owner, memory.at(), *value, spec_.bytes)
                           : runtime_->write_pattern(owner, memory.at(), spec_.bytes, {.seed = spec_.seed}));
        return runtime_->wait(owner);
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
        MEMSWEEP_TRY(spec_.by_kernel
                         ? runtime_->copy_by_kernel(stream_.id(), to_.memory.at(), from_.memory.at(), spec_.bytes)
                         : runtime_->copy(stream_.id(), to_.memory.at(), from_.memory.at(), spec_.bytes));
    }
    return {};
}

Expected<device::Mismatch> CopyQueue::verify()
{
    const device::Pattern pattern{.seed = spec_.seed};
    if (on_device(to_.memory.kind())) {
        return runtime_->check_pattern(owner_of(to_).id(), to_.memory.at(), spec_.bytes, pattern);
    }
    device::Mismatch found;
    const auto look = [&](std::byte* host) { found = device::check_pattern({host, spec_.bytes}, pattern); };
    MEMSWEEP_TRY(on_host(*runtime_, to_.memory, Access::read, look));
    return found;
}

Expected<device::Mismatch> CopyQueue::verify_by_host()
{
    return device::check_by_host(*runtime_, owner_of(to_).id(), to_.memory.at(), spec_.bytes, {.seed = spec_.seed});
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

AtOnce& AtOnce::operator+=(const AtOnce& next)
{
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        seconds[i] += next.seconds[i];
    }
    stayed_busy = stayed_busy && next.stayed_busy;
    return *this;
}

namespace {

// What a queue is timed by, and the end of what keeps it busy behind that.
struct Window {
    device::Event begin, end, last;
};

Expected<Window> queue_window(device::Runtime& runtime, CopyQueue& queue, std::uint64_t copies, std::uint64_t more)
{
    Window window;
    MEMSWEEP_TRY(queue.enqueue(queue.warm_up_copies()));
    window.begin = MEMSWEEP_TRY(device::record(runtime, queue.stream()));
    MEMSWEEP_TRY(queue.enqueue(copies));
    window.end = MEMSWEEP_TRY(device::record(runtime, queue.stream()));
    MEMSWEEP_TRY(queue.enqueue(more));
    window.last = MEMSWEEP_TRY(device::record(runtime, queue.stream()));
    return window;
}

// Whether one queue was still copying when another was done. The clocks of two devices cannot be compared: of those
// the answer of the moment at which the other had just been waited for counts, which may be late, and then it is no.
Expected<bool> was_busy(device::Runtime& runtime, const Window& busy, const Window& done, bool same_device,
                        bool has_ended)
{
    if (!has_ended || !same_device) {
        return !has_ended;
    }
    return runtime.seconds_between(done.end.id(), busy.last.id()).map([](double seconds) { return seconds >= 0; });
}

Expected<AtOnce> batch_at_once(device::Runtime& runtime, std::vector<CopyQueue>& queues, std::size_t measured,
                               std::uint64_t copies, std::uint64_t times, const Meanwhile& meanwhile)
{
    std::vector<device::Latch> latches;
    for (const CopyQueue& queue : queues) {
        latches.push_back(MEMSWEEP_TRY(device::hold(runtime, queue.stream())));
    }
    std::vector<Window> windows;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        const bool is_only_one = measured == 1 && i == 0;  // nobody is measured beside what it would go on with
        windows.push_back(
            MEMSWEEP_TRY(queue_window(runtime, queues[i], copies, is_only_one ? 0 : (times - 1) * copies)));
    }
    Expected<void> all;
    std::ranges::for_each(latches.rbegin(), latches.rend(), [&](device::Latch& latch) {  // the measured ones last
        if (auto let_go = latch.close(); !let_go) {
            all = let_go;
        }
    });
    if (meanwhile) {
        meanwhile();
    }
    for (std::size_t i = 0; i < measured; ++i) {
        if (auto done = runtime.wait(windows[i].end.id()); !done) {
            all = done;
        }
    }
    std::vector<bool> ended;
    for (const Window& window : windows) {
        ended.push_back(runtime.happened(window.last.id()).value_or(true));
    }
    for (const CopyQueue& queue : queues) {
        if (auto done = runtime.wait(queue.stream().id()); !done) {
            all = done;
        }
    }
    MEMSWEEP_TRY(all);
    AtOnce result;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        result.seconds.push_back(MEMSWEEP_TRY(runtime.seconds_between(windows[i].begin.id(), windows[i].end.id())));
        for (std::size_t other = 0; i < measured && other < queues.size(); ++other) {
            const bool same_device = queues[i].spec().stream_device == queues[other].spec().stream_device;
            result.stayed_busy =
                result.stayed_busy &&
                (other == i || MEMSWEEP_TRY(was_busy(runtime, windows[other], windows[i], same_device, ended[other])));
        }
    }
    return result;
}

}  // namespace

Expected<AtOnce> run_at_once(device::Runtime& runtime, std::vector<CopyQueue>& queues, std::size_t measured,
                             std::uint64_t copies, std::uint64_t times, const Meanwhile& meanwhile)
{
    const std::uint64_t of_one = max_behind_latch / most_on_one_device(queues);
    const std::uint64_t warm_up = queues.front().warm_up_copies();
    const std::uint64_t most = std::max<std::uint64_t>(of_one > warm_up ? (of_one - warm_up) / times : 1, 1);
    return sum_of_batches(copies, most, [&](std::uint64_t batch, bool is_first) {
        return batch_at_once(runtime, queues, measured, batch, times, is_first ? meanwhile : Meanwhile{});
    });
}

}  // namespace memsweep::probe
