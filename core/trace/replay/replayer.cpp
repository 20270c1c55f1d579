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
#include "core/trace/replay/replay_gate.hpp"
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
    base::keep_stores(bytes);
}

// Starts and joins the threads of a run; called by the first of them.
class Crew {
  public:
    Crew() = default;
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    virtual ~Crew() = default;
    virtual void spawn(std::size_t thread) = 0;
    virtual void join(std::size_t thread) = 0;
};

// What the threads of one run share.
template <typename Backend>
struct Shared {
    std::atomic<void*>* cells{};
    typename Backend::Slot* beside{};  // for each cell, what does not go into it; nullptr where the block itself does
    ReplayTouch touch{};
    bool paced{};
    ReplayWaits waits;
    ReplayGate* gate{};
    Crew* crew{};
    std::int64_t began_ns{};
    const sys::Clock* clock{};

    void stop() noexcept
    {
        waits.stop();
        gate->stop();
    }
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
                shared_.stop();
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

    bool wait_for(const std::atomic<void*>& cell, bool full)
    {
        if ((cell.load(std::memory_order_acquire) != nullptr) == full) [[likely]] {
            return true;
        }
        return while_waiting([&] { return shared_.waits.until(cell, full, result.waits); });
    }

    bool put(std::uint32_t cell_index, Slot& slot)
    {
        std::atomic<void*>& cell = shared_.cells[cell_index];
        if (!wait_for(cell, false)) {
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
        if (!wait_for(cell, true)) {
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
            return !shared_.paced || while_waiting([&] { return wait_until(op.size); });
        case ExtendedAction::enter:
            if (op.from_cell) {
                shared_.gate->leave();
            }
            if (shared_.gate->is_open(op.size)) {
                return true;
            }
            ++result.waits;
            return while_waiting([&] { return shared_.gate->wait(op.size); });
        case ExtendedAction::leave:
            shared_.gate->leave();
            return true;
        case ExtendedAction::spawn:
            return while_waiting([&] {
                shared_.crew->spawn(op.to);
                return true;
            });
        case ExtendedAction::join:
            return while_waiting([&] {
                shared_.crew->join(op.to);
                return true;
            });
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
            base::keep_stores(Backend::data(slots_[op.to]));
        }
    }

    // False: stopped.
    bool wait_until(std::uint64_t ns)
    {
        constexpr std::int64_t longest_sleep = 50'000'000;  // between two looks whether the replay is stopped
        const std::int64_t due = shared_.began_ns + static_cast<std::int64_t>(ns);
        for (std::int64_t left = due - shared_.clock->now().count(); left > 0 && !shared_.waits.stopped();
             left = due - shared_.clock->now().count()) {
            shared_.clock->sleep_for(std::chrono::nanoseconds{std::min(left, longest_sleep)});
        }
        return !shared_.waits.stopped();
    }

    template <typename Wait>
    bool while_waiting(const Wait& wait)
    {
        const std::int64_t began = shared_.clock->now().count();
        const bool done = wait();
        waited_ns_ += shared_.clock->now().count() - began;
        return done;
    }

  public:
    [[nodiscard]] std::int64_t waited_ns() const { return waited_ns_; }

  private:
    Backend backend_;
    Shared<Backend>& shared_;
    Slot* slots_;
    const ExtendedOp* extended_;
    CallTimeCounts* times_;
    ReplayTouch touch_;
    std::int64_t waited_ns_{};
};

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

// The threads of one run. The first is the caller's, and starts the others where the program says so. Those that have
// not ended at the last event wait until it has been looked at, and free what they have left; of the others the first
// thread does.
template <typename Backend, bool timed>
class Run final : public Crew {
  public:
    using Slot = typename Backend::Slot;

    Run(const Backend& backend, Shared<Backend>& shared, const ReplayProgram& program, Slot* slots,
        const std::vector<std::uint64_t>& first_slot, const ReplayWatch& watch)
        : backend_{backend}, shared_{shared}, program_{program}, slots_{slots}, first_slot_{first_slot}, watch_{watch},
          threads_(program.threads.size())
    {
        shared.crew = this;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() override { end(); }

    ReplayRun run()
    {
        if (program_.threads.empty()) {
            return total_;
        }
        Member first{*this, 0};
        shared_.began_ns = shared_.clock->now().count();
        bool whole = first.run_body();
        for (std::size_t index = 1; index < threads_.size(); ++index) {
            if (program_.threads[index].ends != 0) {
                join(index);
            }
        }
        for (std::uint32_t parked = parked_.load(); parked != to_park_; parked = parked_.load()) {
            parked_.wait(parked);
        }
        whole = whole && !shared_.waits.stopped();
        if (whole && watch_.at_end) {
            watch_.at_end();
        }
        end();
        if (whole) {
            first.free_rest();
            for (std::size_t index = 1; index < threads_.size(); ++index) {
                if (program_.threads[index].ends != 0) {
                    Member{*this, index}.free_rest();
                }
            }
        }
        return total_;
    }

    void spawn(std::size_t index) override
    {
        const bool ends = program_.threads[index].ends != 0;
        threads_[index] = std::thread{[this, index, ends] {
            Member member{*this, index};
            const bool whole = member.run_body();
            if (!ends) {
                parked_.fetch_add(1);
                parked_.notify_one();
                is_over_.wait(false);
                if (whole && !shared_.waits.stopped()) {
                    member.free_rest();
                }
            }
        }};
        to_park_ += ends ? 0 : 1;
    }

    void join(std::size_t index) override
    {
        if (threads_[index].joinable()) {
            threads_[index].join();
        }
    }

  private:
    // One thread of the program, in whichever thread it is run.
    class Member {
      public:
        Member(Run& run, std::size_t index)
            : run_{run}, thread_{run.program_.threads[index]},
              times_{timed ? std::make_unique<CallTimeCounts>() : nullptr},
              replay_{run.backend_, run.shared_, run.slots_ + run.first_slot_[index], run.program_.extended(thread_),
                      times_.get()}
        {
        }
        // False: stopped.
        bool run_body()
        {
            const sys::Clock& clock = *run_.shared_.clock;
            const std::int64_t began = clock.now().count();
            const bool whole = replay_.run(run_.program_.ops(thread_).first(thread_.body));
            replay_.result.thread_ns = clock.now().count() - began - replay_.waited_ns();
            replay_.result.events = thread_.events;
            const std::lock_guard lock{run_.joining_};
            add(run_.total_, replay_.result);
            if constexpr (timed) {
                run_.watch_.times->add(*times_);
                *times_ = {};
            }
            return whole;
        }
        void free_rest()
        {
            static_cast<void>(replay_.run(run_.program_.ops(thread_).subspan(thread_.body)));
            if constexpr (timed) {
                const std::lock_guard lock{run_.joining_};
                run_.watch_.times->add(*times_);
            }
        }

      private:
        Run& run_;
        const ReplayThread& thread_;
        std::unique_ptr<CallTimeCounts> times_;
        ThreadReplay<Backend, timed> replay_;
    };

    // Also where a thread could not be started.
    void end()
    {
        if (parked_.load() != to_park_) {
            shared_.stop();
        }
        is_over_.store(true);
        is_over_.notify_all();
        for (std::thread& thread : threads_) {
            if (thread.joinable()) {
                thread.join();
            }
        }
    }

    const Backend& backend_;
    Shared<Backend>& shared_;
    const ReplayProgram& program_;
    Slot* slots_;
    const std::vector<std::uint64_t>& first_slot_;
    const ReplayWatch& watch_;
    std::vector<std::thread> threads_;
    std::uint32_t to_park_{};
    std::atomic<std::uint32_t> parked_{0};
    std::atomic<bool> is_over_{false};
    std::mutex joining_;
    ReplayRun total_;
};

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
    static_cast<void>(run(NullBackend{}, ReplayTouch::none, {}, false));
    return run(NullBackend{}, ReplayTouch::none, {}, false);
}

std::uint64_t Replayer::own_bytes() const noexcept
{
    return places_->bytes();
}

template <typename Backend>
ReplayRun Replayer::run(const Backend& backend, ReplayTouch touch, const ReplayWatch& watch, bool paced)
{
    using BlockSlot = typename Backend::Slot;
    const sys::SystemClock clock;
    ReplayGate gate{program_.steps};
    Shared<Backend> shared;
    shared.cells = program_.header->cells == 0 ? nullptr : &places_->cells[0];
    shared.touch = touch;
    shared.paced = paced;
    shared.gate = &gate;
    shared.clock = &clock;
    BlockSlot* slots = nullptr;
    if constexpr (std::is_pointer_v<BlockSlot>) {
        slots = &places_->slots[0];
    } else {
        places_->make_handles();
        slots = places_->handles->data();
        shared.beside = places_->handles_beside->data();
    }
    if (watch.times != nullptr) {
        return Run<Backend, true>{backend, shared, program_, slots, places_->first_slot, watch}.run();
    }
    return Run<Backend, false>{backend, shared, program_, slots, places_->first_slot, watch}.run();
}

ReplayRun Replayer::on_nothing(const ReplayWatch& watch)
{
    return run(NullBackend{}, ReplayTouch::none, watch);
}

ReplayRun Replayer::on_malloc(ReplayTouch touch, const ReplayWatch& watch)
{
    return run(MallocBackend{}, touch, watch);
}

ReplayRun Replayer::on(memory::MemoryResource& resource, ReplayTouch touch, const ReplayWatch& watch)
{
    return touch == ReplayTouch::unreachable ? run(ResourceBackend<false>{resource}, touch, watch)
                                             : run(ResourceBackend<true>{resource}, touch, watch);
}

ReplayRun Replayer::on(lifetime::Heap& heap, bool frees_manually, ReplayTouch touch, const ReplayWatch& watch)
{
    return touch == ReplayTouch::unreachable ? run(HeapBackend<false>{heap, frees_manually}, touch, watch)
                                             : run(HeapBackend<true>{heap, frees_manually}, touch, watch);
}

}  // namespace memsweep::trace
