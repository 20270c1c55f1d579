#include "core/trace/replay/replayer.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/page_ops.hpp"
#include "core/trace/replay/replay_backends.hpp"
#include "core/trace/replay/replay_places.hpp"

namespace memsweep::trace {
namespace {

void touch_block(void* data, std::uint64_t from, std::uint64_t size, ReplayTouch touch) noexcept
{
    if (size <= from) {
        return;
    }
    auto* bytes = static_cast<std::byte*>(data) + from;
    if (touch == ReplayTouch::all) {
        std::memset(bytes, 0x5A, size - from);
    } else {
        sys::touch_pages(bytes, size - from);
    }
    memory::keep_stores(bytes);
}

// What the threads of one run share.
template <typename Backend>
struct Shared {
    std::atomic<void*>* cells{};
    typename Backend::Slot* beside{};  // of a cell, what does not go into it; nullptr where the block itself does
    ReplayTouch touch{};
    ReplayWaits waits;
    std::atomic<std::uint32_t> ready{0};
    std::atomic<bool> go{false};
    bool cancelled{};  // before `go`: a thread could not be started
    std::int64_t began_ns{};
    const sys::Clock* clock{};
};

template <typename Backend, bool timed>
class ThreadReplay {
  public:
    using Slot = typename Backend::Slot;
    static constexpr bool in_cells = std::is_pointer_v<Slot>;

    ThreadReplay(const Backend& backend, Shared<Backend>& shared, Slot* slots, const ExtendedOp* extended,
                 CallTimeCounts* times)
        : backend_{backend}, shared_{shared}, slots_{slots}, extended_{extended}, times_{times},
          touch_{Backend::has_memory ? shared.touch : ReplayTouch::none}
    {
    }

    // False: stopped, by a refusal here or elsewhere.
    bool run(std::span<const std::uint64_t> ops)
    {
        Slot* const slots = slots_;
        const std::uint64_t* at = ops.data();
        for (const std::uint64_t* const end = at + ops.size(); at != end; ++at) {
            const auto kind = static_cast<ReplayOp>(*at & 0xFU);
            const auto slot = static_cast<std::uint32_t>(*at) >> 4U;
            const std::uint64_t size = *at >> 32U;
            bool done = true;
            // Nearly all of a trace is these two, and a branch is foreseen better than a jump to anywhere.
            if (kind == ReplayOp::release) {
                release(slots[slot], size, plain_alignment);
            } else if (kind == ReplayOp::allocate) {
                done = allocate(slots[slot], size, plain_alignment, false);
            } else {
                done = run_rarer(kind, slot, size);
            }
            if (!done) [[unlikely]] {
                shared_.waits.stop();
                return false;
            }
        }
        return true;
    }

    ReplayRun result;

  private:
    bool run_rarer(ReplayOp kind, std::uint32_t slot, std::uint64_t size)
    {
        switch (kind) {
        case ReplayOp::zeroed:
            return allocate(slots_[slot], size, plain_alignment, true);
        case ReplayOp::give:
        case ReplayOp::give_zeroed: {
            Slot made{};
            return allocate(made, size, plain_alignment, kind == ReplayOp::give_zeroed) && put(slot, made);
        }
        case ReplayOp::take: {
            Slot taken{};
            if (!get(slot, taken)) {
                return false;
            }
            release(taken, size, plain_alignment);
            return true;
        }
        case ReplayOp::resize:
            return resize(slots_[slot], extended_[size]);
        case ReplayOp::extended:
            return run_extended(extended_[size]);
        case ReplayOp::allocate:
        case ReplayOp::release:
            break;
        }
        return true;
    }

    bool allocate(Slot& slot, std::uint64_t size, std::uint32_t alignment, bool zeroed)
    {
        bool done = false;
        if constexpr (timed) {
            const std::uint64_t before = counter_ticks();
            done = backend_.allocate(slot, size, alignment, zeroed);
            times_->count(CallKind::allocate, size, counter_ticks() - before);
        } else {
            done = backend_.allocate(slot, size, alignment, zeroed);
        }
        if (!done) [[unlikely]] {
            return refuse(size);
        }
        if (touch_ != ReplayTouch::none) {
            touch_block(Backend::data(slot), 0, size, touch_);
        }
        return true;
    }

    void release(Slot& slot, std::uint64_t size, std::uint32_t alignment)
    {
        if constexpr (timed) {
            const std::uint64_t before = counter_ticks();
            backend_.release(slot, size, alignment);
            times_->count(CallKind::release, size, counter_ticks() - before);
        } else {
            backend_.release(slot, size, alignment);
        }
    }

    bool refuse(std::uint64_t size)
    {
        result.refused = true;
        result.refused_bytes = size;
        return false;
    }

    bool put(std::uint32_t cell_index, Slot& slot)
    {
        std::atomic<void*>& cell = shared_.cells[cell_index];
        if (!shared_.waits.until(cell, false, result.waits)) {
            return false;
        }
        if constexpr (in_cells) {
            // A block of no bytes may have no address.
            cell.store(slot != nullptr ? slot : full_cell(), std::memory_order_release);
        } else {
            shared_.beside[cell_index] = std::move(slot);
            cell.store(full_cell(), std::memory_order_release);
        }
        shared_.waits.changed(cell);
        return true;
    }

    bool get(std::uint32_t cell_index, Slot& slot)
    {
        std::atomic<void*>& cell = shared_.cells[cell_index];
        if (!shared_.waits.until(cell, true, result.waits)) {
            return false;
        }
        if constexpr (in_cells) {
            slot = cell.load(std::memory_order_relaxed);
            slot = slot == full_cell() && Backend::has_memory ? nullptr : slot;
        } else {
            slot = std::move(shared_.beside[cell_index]);
        }
        cell.store(nullptr, std::memory_order_release);
        shared_.waits.changed(cell);
        return true;
    }

    // Apart, so that the loop over plain operations stays small.
    [[gnu::noinline]] bool run_extended(const ExtendedOp& op)
    {
        switch (op.action) {
        case ExtendedAction::pace:
            wait_until(op.size);
            return true;
        case ExtendedAction::signal:
            shared_.cells[op.to].store(full_cell(), std::memory_order_release);
            shared_.waits.changed(shared_.cells[op.to]);
            return true;
        case ExtendedAction::await:
            if (!shared_.waits.until(shared_.cells[op.slot], true, result.waits)) {
                return false;
            }
            shared_.cells[op.slot].store(nullptr, std::memory_order_relaxed);
            began_waiting();
            return true;
        case ExtendedAction::copy:
            copy(op);
            return true;
        case ExtendedAction::allocate:
        case ExtendedAction::zeroed:
        case ExtendedAction::release:
        case ExtendedAction::resize:
        case ExtendedAction::pass:
            return move_block(op);
        }
        return true;
    }

    // Fetches the block from where it is, works on it, and leaves it where it belongs.
    bool move_block(const ExtendedOp& op)
    {
        Slot block{};
        const bool makes = op.action == ExtendedAction::allocate || op.action == ExtendedAction::zeroed;
        if (makes) {
            if (!allocate(block, op.size, op.alignment, op.action == ExtendedAction::zeroed)) {
                return false;
            }
        } else if (!op.from_cell) {
            block = std::move(slots_[op.slot]);
        } else if (!get(op.slot, block)) {
            return false;
        }
        if (op.action == ExtendedAction::release) {
            release(block, op.old_size, op.old_alignment);
            return true;
        }
        if (op.action == ExtendedAction::resize && !resize(block, op)) {
            slots_[op.to] = std::move(block);
            return false;
        }
        if (op.to_cell) {
            return put(op.to, block);
        }
        slots_[op.to] = std::move(block);
        return true;
    }

    bool resize(Slot& slot, const ExtendedOp& op)
    {
        bool done = false;
        if constexpr (timed) {
            const std::uint64_t before = counter_ticks();
            done = backend_.resize(slot, op);
            times_->count(CallKind::allocate, op.size, counter_ticks() - before);
        } else {
            done = backend_.resize(slot, op);
        }
        if (done && touch_ != ReplayTouch::none) {
            touch_block(Backend::data(slot), op.old_size, op.size, touch_);
        }
        return done || refuse(op.size);
    }

    void copy(const ExtendedOp& op)
    {
        result.transferred_bytes += op.size;
        if constexpr (Backend::has_memory) {
            std::memcpy(Backend::data(slots_[op.to]), Backend::data(slots_[op.slot]), op.size);
            memory::keep_stores(Backend::data(slots_[op.to]));
        }
    }

    void wait_until(std::uint64_t ns)
    {
        if (ns != 0) {
            const std::int64_t due = shared_.began_ns + static_cast<std::int64_t>(ns);
            const std::int64_t left = due - shared_.clock->now().count();
            if (left > 0) {
                shared_.clock->sleep_for(std::chrono::nanoseconds{left});
            }
        }
    }

    // Time before a thread is started is not its own.
    void began_waiting() { began_late_ns_ = shared_.clock->now().count(); }

  public:
    [[nodiscard]] std::int64_t began_late_ns() const { return began_late_ns_; }

  private:
    Backend backend_;
    Shared<Backend>& shared_;
    Slot* slots_;
    const ExtendedOp* extended_;
    CallTimeCounts* times_;
    ReplayTouch touch_;
    std::int64_t began_late_ns_{};
};

template <typename Backend, bool timed>
ReplayRun run_thread(const Backend& backend, Shared<Backend>& shared, const ReplayProgram& program,
                     const ReplayThread& thread, typename Backend::Slot* slots, CallTimeCounts* times)
{
    ThreadReplay<Backend, timed> replay{backend, shared, slots, program.extended(thread), times};
    const auto ops = program.ops(thread);
    const std::int64_t began = shared.clock->now().count();
    bool whole = replay.run(ops.first(thread.body));
    const std::int64_t ended = shared.clock->now().count();
    whole = whole && replay.run(ops.subspan(thread.body));
    replay.result.thread_ns = ended - std::max(began, replay.began_late_ns());
    replay.result.events = thread.events;
    return replay.result;
}

void add(ReplayRun& total, const ReplayRun& one)
{
    total.thread_ns += one.thread_ns;
    total.events += one.events;
    total.transferred_bytes += one.transferred_bytes;
    total.waits += one.waits;
    if (one.refused) {
        total.refused = true;
        total.refused_bytes = one.refused_bytes;
    }
}

}  // namespace

Replayer::Replayer(const ReplayProgram& program) : program_{program}, places_{std::make_unique<ReplayPlaces>(program)}
{
}
Replayer::~Replayer() = default;

ReplayRun Replayer::prepare(bool with_handles)
{
    if (with_handles) {
        places_->make_handles();
    }
    static_cast<void>(on_nothing());
    return on_nothing();
}

template <typename Backend>
ReplayRun Replayer::run(const Backend& backend, ReplayTouch touch, CallTimeCounts* times)
{
    using BlockSlot = typename Backend::Slot;
    const sys::SystemClock clock;
    Shared<Backend> shared;
    shared.cells = program_.header->cells == 0 ? nullptr : &places_->cells[0];
    shared.touch = touch;
    shared.clock = &clock;
    BlockSlot* slots = nullptr;
    if constexpr (std::is_pointer_v<BlockSlot>) {
        slots = &places_->slots[0];
    } else {
        places_->make_handles();
        slots = places_->handles->data();
        shared.beside = places_->handles_beside->data();
    }
    ReplayRun total;
    std::mutex joining;
    std::vector<std::unique_ptr<CallTimeCounts>> all_counts(program_.threads.size());
    for (auto& counts : all_counts) {
        counts = times != nullptr ? std::make_unique<CallTimeCounts>() : nullptr;
    }
    const auto body = [&](std::size_t index) {
        CallTimeCounts* const counts = all_counts[index].get();
        if (shared.ready.fetch_add(1) + 1 == program_.threads.size()) {
            shared.began_ns = clock.now().count();
            shared.go.store(true);
            shared.go.notify_all();
        } else {
            shared.go.wait(false);
        }
        if (shared.cancelled) {
            return;
        }
        const ReplayThread& thread = program_.threads[index];
        BlockSlot* const first = slots + places_->first_slot[index];
        const ReplayRun one = counts != nullptr
                                  ? run_thread<Backend, true>(backend, shared, program_, thread, first, counts)
                                  : run_thread<Backend, false>(backend, shared, program_, thread, first, nullptr);
        const std::lock_guard lock{joining};
        add(total, one);
        if (counts != nullptr) {
            times->add(*counts);
        }
    };
    std::vector<std::jthread> others;  // all of them wait for the last: where one cannot start, none begins
    try {
        others.reserve(program_.threads.size());
        for (std::size_t index = 1; index < program_.threads.size(); ++index) {
            others.emplace_back(body, index);
        }
    } catch (...) {
        shared.cancelled = true;
        shared.go.store(true);
        shared.go.notify_all();
        throw;
    }
    if (!program_.threads.empty()) {
        body(0);
    }
    others.clear();
    return total;
}

ReplayRun Replayer::on_nothing(CallTimeCounts* times)
{
    return run(NullBackend{}, ReplayTouch::none, times);
}

ReplayRun Replayer::on_malloc(ReplayTouch touch, CallTimeCounts* times)
{
    return run(MallocBackend{}, touch, times);
}

ReplayRun Replayer::on(memory::MemoryResource& resource, ReplayTouch touch, CallTimeCounts* times)
{
    return touch == ReplayTouch::unreachable ? run(ResourceBackend<false>{resource}, touch, times)
                                             : run(ResourceBackend<true>{resource}, touch, times);
}

ReplayRun Replayer::on(lifetime::Heap& heap, bool frees_manually, ReplayTouch touch, CallTimeCounts* times)
{
    return touch == ReplayTouch::unreachable ? run(HeapBackend<false>{heap, frees_manually}, touch, times)
                                             : run(HeapBackend<true>{heap, frees_manually}, touch, times);
}

}  // namespace memsweep::trace
