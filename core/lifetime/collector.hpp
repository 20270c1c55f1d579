// Decides when to collect. Counts the time that collections cost the program, and how many collections the program
// avoided by its own frees. The discipline that owns the collector finds and frees the memory.
//
// Cost     nothing without a trigger. With one, a lock and a clock read per allocation, and a lock per free.
// Threads  any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/g1_young.hpp"
#include "core/lifetime/heap_triggers.hpp"
#include "core/lifetime/triggers.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::lifetime {

// Makes every trigger that the spec asks for.
[[nodiscard]] inline std::vector<std::unique_ptr<Trigger>> make_triggers(const model::ReleaseSpec& spec)
{
    std::vector<std::unique_ptr<Trigger>> triggers;
    if (spec.collect_every != 0) {
        triggers.push_back(std::make_unique<AllocationCount>(spec.collect_every));
    }
    if (spec.managed.heap.initial != 0 && spec.managed.region != 0) {
        triggers.push_back(std::make_unique<G1Young>(spec.managed));
    } else if (spec.managed.steady != 0 || spec.managed.large != 0 || spec.managed.heap.initial != 0) {
        triggers.push_back(std::make_unique<ManagedBudgetTrigger>(spec.managed));
    }
    if (spec.pressure.rule == model::PressureRule::coreclr) {
        triggers.push_back(std::make_unique<CoreClrPressure>(spec.pressure));
    }
    if (spec.pressure.rule == model::PressureRule::cuda && spec.pressure.capacity != 0) {
        triggers.push_back(std::make_unique<CudaPressure>(spec.pressure));
    }
    if (spec.target.initial != 0) {
        triggers.push_back(std::make_unique<HeapTargetTrigger>(spec.target));
    }
    if (spec.cycle.generation0 != 0) {
        triggers.push_back(std::make_unique<CycleCounts>(spec.cycle));
    }
    return triggers;
}

// A collection that triggers ask for: when it is due (Due::no: they ask for none), and which generations it covers.
struct Request {
    Due due{Due::no};
    Generation generation{Generation::youngest};
};

// Asks every trigger, even after one wants a collection, because each counts the allocation.
template <typename Question>
Request ask(const std::vector<std::unique_ptr<Trigger>>& triggers, const Question& question)
{
    Request request;
    for (const auto& trigger : triggers) {
        const Due wanted = question(*trigger);
        if (wanted != Due::no) {
            request.due = request.due == Due::now ? request.due : wanted;
            request.generation = std::max(request.generation, trigger->generation());
        }
    }
    return request;
}

class Collector {
  public:
    // With `shadow`, a second set of triggers models what would happen if the program freed nothing itself.
    Collector(const model::ReleaseSpec& spec, bool shadow)
        : pause_spec_ns_{spec.gc_pause_ns}, triggers_{make_triggers(spec)}
    {
        if (shadow) {
            shadow_ = make_triggers(spec);
        }
    }

    [[nodiscard]] Request before_allocate(std::uint64_t bytes) noexcept
    {
        if (!has_triggers()) {
            return {};
        }
        const std::int64_t now = steady_ns();
        const std::lock_guard lock{mutex_};
        run_shadow(bytes, now);
        return ask(triggers_, [=](Trigger& trigger) { return trigger.before_allocate(bytes, now); });
    }

    // Call after the collection that an allocation asked for. Returns one more collection that the same allocation asks
    // for, or Due::no.
    [[nodiscard]] Request again() noexcept
    {
        const std::lock_guard lock{mutex_};
        return ask(triggers_, [](Trigger& trigger) { return trigger.again(); });
    }

    // Counts bytes that have become unreachable. In the model of the second set of triggers (`shadow`), the next
    // collection frees these bytes.
    void dropped(std::uint64_t bytes) noexcept
    {
        if (!shadow_.empty()) {
            const std::lock_guard lock{mutex_};
            shadow_unreachable_ += bytes;
        }
    }

    // Tells the triggers how many bytes a collection freed.
    void freed(std::uint64_t bytes) noexcept
    {
        if (has_triggers()) {
            const std::lock_guard lock{mutex_};
            for (const auto& trigger : triggers_) {
                trigger->freed(bytes);
            }
        }
    }

    void freed_early(std::uint64_t bytes) noexcept
    {
        freed(bytes);
        dropped(bytes);
    }

    // Stops the program for the modelled pause. Returns the time at which the collection began.
    [[nodiscard]] std::int64_t begin_pause() const noexcept
    {
        const std::int64_t began = steady_ns();
        spin_for(pause_spec_ns_);
        return began;
    }

    // Call when a collection has ended. `program_waited`: the collection stopped the program, so its time is a pause.
    void finish(const Collection& collection, bool program_waited) noexcept
    {
        collections_.fetch_add(1, relaxed);
        if (program_waited) {
            const auto pause = static_cast<std::uint64_t>(collection.end_ns - collection.start_ns);
            pause_ns_.fetch_add(pause, relaxed);
            std::uint64_t max = pause_max_ns_.load(relaxed);
            while (pause > max && !pause_max_ns_.compare_exchange_weak(max, pause, relaxed)) {
            }
        }
        if (has_triggers()) {
            const std::lock_guard lock{mutex_};
            triggered_ += collection.asked_for ? 0 : 1;
            for (const auto& trigger : triggers_) {
                trigger->collected(collection);
            }
            if (collection.asked_for) {  // the program would also ask if it freed nothing itself
                collect_shadow(collection.start_ns, collection.end_ns, true);
            }
        }
    }

    void add_to(DisciplineStats& stats) const noexcept
    {
        stats.collections = collections_.load(relaxed);
        stats.pause_ns = pause_ns_.load(relaxed);
        stats.pause_max_ns = pause_max_ns_.load(relaxed);
        const std::lock_guard lock{mutex_};
        stats.collections_avoided = shadow_collections_ - std::min(shadow_collections_, triggered_);
    }

    void reset_counts() noexcept
    {
        collections_.store(0, relaxed);
        pause_ns_.store(0, relaxed);
        pause_max_ns_.store(0, relaxed);
        const std::lock_guard lock{mutex_};
        shadow_collections_ = 0;
        triggered_ = 0;
    }

  private:
    void run_shadow(std::uint64_t bytes, std::int64_t now_ns) noexcept
    {
        if (shadow_.empty()) {
            return;
        }
        Request request = ask(shadow_, [=](Trigger& trigger) { return trigger.before_allocate(bytes, now_ns); });
        while (request.due != Due::no) {
            ++shadow_collections_;
            collect_shadow(now_ns, now_ns + static_cast<std::int64_t>(pause_spec_ns_), false);
            request = ask(shadow_, [](Trigger& trigger) { return trigger.again(); });
        }
    }

    void collect_shadow(std::int64_t start_ns, std::int64_t end_ns, bool asked_for) noexcept
    {
        const std::uint64_t freed = std::exchange(shadow_unreachable_, 0);
        for (const auto& trigger : shadow_) {
            trigger->freed(freed);
            trigger->collected({start_ns, end_ns, freed, asked_for});
        }
    }

    [[nodiscard]] bool has_triggers() const noexcept { return !triggers_.empty(); }

    std::uint64_t pause_spec_ns_;
    mutable std::mutex mutex_;  // guards the triggers
    std::vector<std::unique_ptr<Trigger>> triggers_;
    std::vector<std::unique_ptr<Trigger>> shadow_;
    std::uint64_t shadow_unreachable_{};
    std::uint64_t shadow_collections_{};
    std::uint64_t triggered_{};  // collections that a trigger asked for
    std::atomic<std::uint64_t> collections_{0};
    std::atomic<std::uint64_t> pause_ns_{0};
    std::atomic<std::uint64_t> pause_max_ns_{0};
};

}  // namespace memsweep::lifetime
