// Kernels over three arrays by a pool of pinned threads, timed and checked.
//
// Units    elements are doubles; seconds from the first thread's start to the last one's end.
//
// Sources  a is written, b and c are only read. Each thread goes over chunks of its own share of the arrays, from the
//          place where its last run ended. So memory that a run touches was last touched a whole share ago, however
//          short the run is.
//
// Memory   three times the bytes asked for, in pages of one size and from one node, touched and filled before make()
//          returns. The arrays lie 64 KiB further apart than they are long, so that the same element of two shares no
//          bank of memory; c starts 22 lines into a page, a and b start with one.
//
// Errors   those of PlacedMemory.
//
// Threads  The pool that is passed in fills, poisons, checks and runs; the calls belong to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/probe/kernel.hpp"
#include "core/sys/numa.hpp"
#include "core/sys/placed_memory.hpp"
#include "core/sys/threads.hpp"

namespace memsweep::probe {

// A run of chunks, and how many times each of them was gone over.
struct Visits {
    std::size_t first_chunk{};
    std::vector<std::uint32_t> counts;
};

class StreamArrays {
  public:
    // `bytes_per_array` is rounded down to whole chunks, at least one of a page. `shares`: the number of equal parts of
    // the arrays, which is the largest number of threads.
    struct Spec {
        std::uint64_t bytes_per_array{};
        model::PageKind pages{model::PageKind::thp};
        bool or_small{};                    // base pages will do if there are no huge ones
        std::optional<std::uint32_t> node;  // absent: wherever the kernel puts it
        std::size_t shares{1};
    };
    [[nodiscard]] static base::Expected<StreamArrays> make(const Spec& spec, sys::PinnedThreads& pool);

    [[nodiscard]] std::uint64_t bytes_per_array() const noexcept { return chunks_ * chunk_elements_ * sizeof(double); }
    [[nodiscard]] std::size_t chunks() const noexcept { return chunks_; }
    [[nodiscard]] std::size_t chunk_elements() const noexcept { return chunk_elements_; }
    [[nodiscard]] Operands chunk(std::size_t number) const noexcept;
    [[nodiscard]] std::uint64_t sum_of_b(std::size_t chunk) const noexcept { return sums_of_b_[chunk]; }

    // All of a, for a caller that no longer needs its contents.
    [[nodiscard]] std::span<double> whole_a() noexcept { return {a_, chunks_ * chunk_elements_}; }

    // Writes values into a, from that chunk on, that no kernel leaves there.
    void poison(std::size_t first_chunk, std::size_t count, sys::PinnedThreads& pool);

    // Says what is wrong with a, and where, after the kernel has gone over poisoned chunks as often as `visits` says
    // (0: not at all). Empty if every element is right.
    [[nodiscard]] std::string check(Kernel kernel, double scalar, const Visits& visits, sys::PinnedThreads& pool) const;

    // The mapping of all three arrays.
    [[nodiscard]] const sys::PlacedMemory& memory() const noexcept { return memory_; }

  private:
    explicit StreamArrays(sys::PlacedMemory memory) : memory_{std::move(memory)} {}
    void fill(sys::PinnedThreads& pool);

    sys::PlacedMemory memory_;
    double* a_{};
    double* b_{};
    double* c_{};
    std::size_t chunks_{};
    std::size_t chunk_elements_{};
    std::vector<std::uint64_t> sums_of_b_;
};

// The contents of the arrays: whole numbers below 2^22, different at every position. So arithmetic on them is exact,
// and data at a wrong place is noticed.
[[nodiscard]] double b_at(std::size_t element) noexcept;
[[nodiscard]] double c_at(std::size_t element) noexcept;
[[nodiscard]] double poison_at(std::size_t element) noexcept;

// The bits that the kernel must leave in a after going over a poisoned element so many times.
[[nodiscard]] std::uint64_t expected_bits(Kernel kernel, std::size_t element, double scalar,
                                          std::uint32_t visits) noexcept;

struct StreamRun {
    double seconds{};
    std::uint64_t elements{};
    std::string problem;  // what is wrong with the data that were checked; empty: nothing
};

// The scalar of probes, and the length of one run of a calibration.
inline constexpr double stream_scalar = 3;
inline constexpr double seconds_per_trial = 0.002;

class Stream {
  public:
    Stream(StreamArrays& arrays, sys::PinnedThreads& pool) : arrays_{arrays}, pool_{pool}, next_chunk_(pool.size()) {}

    // Runs every thread over so many chunks of its share. Compares the sum of a read with the contents of the arrays.
    [[nodiscard]] StreamRun run(const Form& form, double scalar, std::size_t chunks_per_thread);

    // The same over poisoned memory. It checks every element afterwards, and the chunk behind each thread's last one,
    // which must still be poisoned.
    [[nodiscard]] StreamRun run_checked(const Form& form, double scalar, std::size_t chunks_per_thread);

    // The number of chunks that take about this long, by one run.
    [[nodiscard]] std::size_t chunks_for(const Form& form, double seconds);

    [[nodiscard]] std::size_t threads() const noexcept { return pool_.size(); }
    [[nodiscard]] std::size_t chunks_per_share() const noexcept { return arrays_.chunks() / pool_.size(); }

  private:
    [[nodiscard]] Visits visits_of(std::size_t thread, std::size_t chunks) const;

    StreamArrays& arrays_;
    sys::PinnedThreads& pool_;
    std::vector<std::size_t> next_chunk_;  // of each thread, within its share
};

// Finds the fastest of several candidates. All of them run in two rounds, then the better half goes on, until one is
// left. Each keeps its best round: a disturbance only makes a run slower, and rarely hits one candidate in both rounds.
// `rate` is called once for each round and candidate.
[[nodiscard]] std::size_t fastest(std::size_t candidates, const std::function<double(std::size_t)>& rate);

// The form of a kernel that is fastest on these arrays with this pool now; with `store`, only among forms of that
// store. nullptr if there is no such form.
[[nodiscard]] const Form* calibrate(Stream& stream, Kernel kernel, std::optional<Store> store, double seconds_per_run);

}  // namespace memsweep::probe
