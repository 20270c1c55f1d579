// The measurements of steps in one repetition. They are plain values, which a worker writes into shared memory.
//
// Units    nanoseconds of CLOCK_MONOTONIC, bytes, counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/engine/repetition/text_field.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/memory/pool.hpp"
#include "core/memory/resource.hpp"
#include "core/model/metric_id.hpp"
#include "core/transfer/transfer_statistics.hpp"

namespace memsweep::engine {

inline constexpr std::size_t max_transfer_steps = 64;

struct PointRecord {
    std::uint32_t name{};
    std::int64_t t_ns{};
    std::uint64_t live_bytes{};
    std::uint64_t floating_bytes{};
    std::uint64_t working_set_bytes{};
    std::uint64_t huge_page_bytes{};
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::uint64_t queue_depth{};
    std::uint64_t idle_bytes{};
};

// The time that the program's thread spent outside its own code, and the new memory that the program got.
struct Costs {
    std::uint64_t allocator_ns{};  // in calls into the memory resource
    std::uint64_t wait_ns{};  // waits for collections, finalizers or capped memory, without calls into the resource
    std::uint64_t run_delay_ns{};     // while the thread was ready to run but had no processor
    std::uint64_t pages_touched{};    // pages of arrays, counted when first written
    std::uint64_t allocated_bytes{};  // bytes that the memory resource allocated

    Costs& operator+=(const Costs& other) noexcept
    {
        allocator_ns += other.allocator_ns;
        wait_ns += other.wait_ns;
        run_delay_ns += other.run_delay_ns;
        pages_touched += other.pages_touched;
        allocated_bytes += other.allocated_bytes;
        return *this;
    }
    friend Costs operator-(const Costs& a, const Costs& b) noexcept
    {
        return {a.allocator_ns - b.allocator_ns, a.wait_ns - b.wait_ns, a.run_delay_ns - b.run_delay_ns,
                a.pages_touched - b.pages_touched, a.allocated_bytes - b.allocated_bytes};
    }
};

struct PhaseRecord {
    std::int64_t first_start_ns{};
    std::int64_t last_end_ns{};
    std::int64_t time_ns{};
    std::uint64_t entered{};
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    Costs costs;  // all but run_delay_ns
};

// The defects counted for one name, and its arrays that were never freed.
struct SlotRecord {
    std::uint64_t uses_after_free{};
    std::uint64_t double_frees{};
    std::uint64_t aliased_frees{};
    std::uint64_t stray_releases{};
    std::uint64_t overruns{};
    std::uint64_t unreleased{};  // arrays that are unreachable at the end and not freed
    std::uint64_t unreleased_bytes{};
    std::int64_t oldest_ns{};  // at the end: the time since the first of these arrays was dropped
};

// The cost of one page fault of each kind, in seconds, measured after the repetition; 0: not measured.
struct FaultCosts {
    double small_page{};    // private memory, first touch of a base page
    double huge_page{};     // private memory, first touch of a huge page
    double shared_page{};   // shared memory, first touch: the kernel makes the page
    double shared_again{};  // shared memory, first touch of a page that is in the page cache, as after a soft trim
};

// The work of replay steps. A replay that times every call leaves thread_ns, events, transferred_bytes and the figures
// of the memory at the last event as they are.
struct ReplayRecord {
    std::int64_t thread_ns{};  // sum over all threads
    std::uint64_t events{};
    std::int64_t dispatch_ns{};  // time of the same events without any memory, measured before the first step
    std::uint64_t dispatch_events{};
    std::uint64_t transferred_bytes{};
    std::uint64_t direct_allocations{};  // made by calls that bypass the counters of the case's memory
    std::uint64_t direct_bytes{};
    std::uint64_t direct_live_peak{};
    std::uint64_t live_bound{};  // the most bytes that can be live, however threads are scheduled
    bool has_ended{};            // memory was read at the last event: peak_bytes, end_bytes, anonymous_end_bytes
    bool was_idle{};             // memory was read again after the idle time: idle_bytes
    std::uint64_t peak_bytes{};  // resident, without the replay's own memory, like end_bytes and idle_bytes
    std::uint64_t end_bytes{};
    std::uint64_t idle_bytes{};
    std::uint64_t anonymous_before_bytes{};  // at the baseline, that is, before the first step
    std::uint64_t anonymous_end_bytes{};     // at the last event
    bool was_asked{};  // the allocator was asked to return memory, before the remaining blocks were freed
    std::uint64_t anonymous_given_back_bytes{};  // anonymous memory that is resident after this request
    double ns_per_tick{};                        // of the counter that times single calls
};

// The outcome of transfer steps.
struct TransferRecord {
    transfer::TransferStatistics statistics;
    std::array<bool, max_transfer_steps> ran{};
    bool unmet{};                     // this machine lacks something that the transfers need
    bool failed{};                    // the transfers could not be carried out
    std::array<char, 4096> routes{};  // the route of each transfer, and why it was chosen
    // Why the transfers are unmet or failed, else which data are wrong; empty: all went well.
    std::array<char, 1024> trouble{};
};

// The device that holds a case's memory, or a device that the scenario requires.
struct DeviceRecord {
    std::array<char, 256> name{};  // "gpu0: its name, its driver"
    // Why the case is unmet: the device could not be used, or its driver refused memory; empty: it is not unmet.
    std::array<char, 1024> trouble{};
    bool driver_is_open{};  // the worker has a driver context, which it closes before it ends
};

// A count over all steps of one kind in a repetition, or a time in nanoseconds.
struct StepCount {
    std::uint64_t value{};
    bool unknown{};  // the kernel refused a part, so `value` is incomplete

    void add(std::uint64_t more, bool known = true)
    {
        value += more;
        unknown = unknown || !known;
    }
};

// The counts of steps. Each count is indexed by the metric that shows it, or that is computed from it.
class StepCounts {
  public:
    [[nodiscard]] StepCount& operator[](model::MetricId metric) { return counts_[model::index_of(metric)]; }
    [[nodiscard]] const StepCount& operator[](model::MetricId metric) const { return counts_[model::index_of(metric)]; }

  private:
    std::array<StepCount, model::metric_count> counts_{};
};

// Counts of work on arrays, in a repetition or in one thread of a parallel block.
struct ArrayCounts {
    std::uint64_t made{};
    std::uint64_t pages_touched{};
    std::uint64_t checksum{};  // of the data read
    std::uint64_t reads{};
};

inline constexpr std::uint64_t not_counted = ~std::uint64_t{0};

// Counts cover the timed steps, unless a field's name or comment says otherwise.
struct StepRecord {
    std::int64_t wall_ns{};
    std::int64_t cpu_ns{};
    std::int64_t kernel_ns{};  // the kernel's part of cpu_ns
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    bool knows_run_delay{};
    std::uint64_t timed_arrays{};     // allocated while the clock ran
    std::uint64_t arrays{};           // allocated over the repetition
    std::uint64_t allocated_bytes{};  // over the repetition
    std::uint64_t baseline_working_set_bytes{};
    std::uint64_t own_bytes{};  // a part of the baseline, namely mapped files and the replayer's own memory
    std::uint64_t baseline_huge_page_bytes{};
    std::uint64_t end_working_set_bytes{};
    std::uint64_t peak_working_set_bytes{};  // VmHWM + hugetlb
    std::uint64_t live_bytes_peak{};
    lifetime::DisciplineStats discipline;  // at the end
    memory::PoolStats pool;                // at the end
    double fragmentation{-1};              // of the pool's idle memory, highest of all samples; -1: it was never idle
    std::uint64_t stray_releases{};
    std::uint64_t outstanding{};  // arrays acquired and not released, at the end
    std::uint64_t calls{};        // timed one by one; RunRegion::call_times_ns holds their times
    std::uint64_t call_minor_faults{};
    std::uint64_t results_checked{};
    std::uint64_t results_wrong{};
    ArrayCounts array_counts;  // over the repetition
    Costs costs;
    StepCounts counts;
    FaultCosts fault_costs;
    ReplayRecord replay;
    TransferRecord transfers;
    DeviceRecord device;
    memory::AllocStatus refused{memory::AllocStatus::ok};
    std::uint64_t refused_bytes{};
    std::uint64_t refused_at_live_bytes{};  // not_counted: the case switches the counters off
    std::uint64_t refused_after_arrays{};   // arrays made before the refusal
    // A resource, such as a thread, that the system refused the worker itself; empty: none.
    std::array<char, 256> starved_of{};
};

// The facts and statistics of the worker's malloc, if the case names an allocator.
struct AllocatorRecord {
    std::array<char, 512> library{};
    std::array<char, 8> format{};
    std::uint64_t length{};
    std::array<char, std::size_t{48} * 1024> statistics{};
};

}  // namespace memsweep::engine
