// Decides when collections come, and counts what they cost the program and how many its own frees avoided. Finding and
// freeing is the work of the discipline that owns the collector.
//
// Cost     nothing without a trigger; with one a lock and a clock read per allocation and per free.
// Threads  any.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/triggers.hpp"

namespace memsweep::lifetime {

class Collector {
  public:
    // With `shadow`, a second set of triggers follows what would happen if the program freed nothing itself.
    Collector(const model::ReleaseSpec& spec, bool shadow);

    [[nodiscard]] Due before_allocate(std::uint64_t bytes) noexcept;

    void dropped(std::uint64_t bytes) noexcept;  // unreachable now, for the shadow to find
    void freed(std::uint64_t bytes) noexcept;    // by a collection
    void freed_early(std::uint64_t bytes) noexcept;

    // Stops the program for the modelled pause; returns when the collection began.
    [[nodiscard]] std::int64_t begin_pause() const noexcept;
    // Ends a collection.
    void finish(const Collection& collection, bool program_waited) noexcept;

    void add_to(DisciplineStats& stats) const noexcept;
    void reset_counts() noexcept;

  private:
    void run_shadow(std::uint64_t bytes, std::int64_t now_ns) noexcept;
    void collect_shadow(std::int64_t start_ns, std::int64_t end_ns, bool asked_for) noexcept;
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
