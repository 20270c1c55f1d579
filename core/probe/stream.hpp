// Runs kernels over three arrays a, b and c with a pool of pinned threads. Times the runs and checks the data.
//
// Units    elements are doubles; seconds from the start of the first thread to the end of the last.
//
// Sources  a is written; b and c are only read. Each thread has a share of the arrays, divided into chunks. In each
//          share, a run begins at the chunk after the last chunk of the previous run. So even short runs touch memory
//          that the thread has not touched for a whole pass through its share.
//
// Memory   three times `bytes_per_array`, in pages of one size and on one node. make() touches and fills all of it.
//          There are 64 KiB between the end of an array and the start of the next. Otherwise the same element of two
//          arrays would often lie in the same memory bank. c starts 22 lines into a page, a and b start at a page
//          boundary.
//
// Errors   those of sys::PlacedMemory.
//
// Threads  the caller's pool does all work on the arrays. Make all calls from one thread.
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

// Consecutive chunks, and how many times a kernel processed each of them.
struct Visits {
    std::size_t first_chunk{};
    std::vector<std::uint32_t> counts;
};

class StreamArrays {
  public:
    // `bytes_per_array` is rounded down to whole chunks, but each share has at least one chunk of 4 KiB. `shares`: the
    // number of equal parts into which the arrays are divided. A pool may have at most this many threads.
    struct Spec {
        std::uint64_t bytes_per_array{};
        model::PageKind pages{model::PageKind::thp};
        bool or_small{};                    // take base pages if the machine has no pages of kind `pages`
        std::optional<std::uint32_t> node;  // absent: the kernel chooses
        std::size_t shares{1};
    };
    [[nodiscard]] static base::Expected<StreamArrays> make(const Spec& spec, sys::PinnedThreads& pool);

    [[nodiscard]] std::uint64_t bytes_per_array() const noexcept { return chunks_ * chunk_elements_ * sizeof(double); }
    [[nodiscard]] std::size_t chunks() const noexcept { return chunks_; }
    [[nodiscard]] std::size_t chunk_elements() const noexcept { return chunk_elements_; }
    [[nodiscard]] Operands chunk(std::size_t number) const noexcept;
    [[nodiscard]] std::uint64_t sum_of_b(std::size_t chunk) const noexcept { return sums_of_b_[chunk]; }

    // The whole array a. The caller may overwrite it if no later run is checked.
    [[nodiscard]] std::span<double> whole_a() noexcept { return {a_, chunks_ * chunk_elements_}; }

    // Writes poison_at() into `count` chunks of a, from `first_chunk` on. No kernel writes these values.
    void poison(std::size_t first_chunk, std::size_t count, sys::PinnedThreads& pool);

    // Checks the contents of a after a kernel has run. Call poison() on these chunks before the kernel runs.
    // `visits`: how often the kernel processed each chunk; 0: the chunk must still be poisoned. Returns what is wrong
    // and where; empty: every element is right.
    [[nodiscard]] std::string check(Kernel kernel, double scalar, const Visits& visits, sys::PinnedThreads& pool) const;

    // One mapping that holds all three arrays.
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

// The contents of the arrays at each element: whole numbers below 2^22, so that arithmetic on them is exact. Elements
// at different positions have different values with high probability, so misplaced data are noticed.
[[nodiscard]] double b_at(std::size_t element) noexcept;
[[nodiscard]] double c_at(std::size_t element) noexcept;
[[nodiscard]] double poison_at(std::size_t element) noexcept;

// The bits that an element of a must have after it was poisoned and the kernel processed it `visits` times.
[[nodiscard]] std::uint64_t expected_bits(Kernel kernel, std::size_t element, double scalar,
                                          std::uint32_t visits) noexcept;

struct StreamRun {
    double seconds{};
    std::uint64_t elements{};
    std::string problem;  // what the check of the data found wrong; empty: nothing was wrong
};

inline constexpr double stream_scalar = 3;          // the scalar that probes pass to kernels
inline constexpr double seconds_per_trial = 0.002;  // the length of one run of a calibration

class Stream {
  public:
    Stream(StreamArrays& arrays, sys::PinnedThreads& pool) : arrays_{arrays}, pool_{pool}, next_chunk_(pool.size()) {}

    // Each thread processes `chunks_per_thread` chunks of its share. For Kernel::read the sum is checked.
    [[nodiscard]] StreamRun run(const Form& form, double scalar, std::size_t chunks_per_thread);

    // Poisons the chunks (see poison_at()), does run(), and checks every element that was written. It also checks that
    // the chunk after each thread's last one is still poisoned.
    [[nodiscard]] StreamRun run_checked(const Form& form, double scalar, std::size_t chunks_per_thread);

    // Returns how many chunks each thread can process in about `seconds`, as measured by one run.
    [[nodiscard]] std::size_t chunks_for(const Form& form, double seconds);

    [[nodiscard]] std::size_t threads() const noexcept { return pool_.size(); }
    [[nodiscard]] std::size_t chunks_per_share() const noexcept { return arrays_.chunks() / pool_.size(); }

  private:
    [[nodiscard]] Visits visits_of(std::size_t thread, std::size_t chunks) const;

    StreamArrays& arrays_;
    sys::PinnedThreads& pool_;
    std::vector<std::size_t> next_chunk_;  // of each thread: the index within its share
};

// Returns the index of the fastest of `candidates` candidates. All run in two rounds, then the faster half in two more,
// and so on until one is left. `rate` measures a candidate once, and is called once per round for each candidate that
// is left. Each candidate's best rate counts, because a disturbance only makes a run slower, and rarely hits both
// rounds of one candidate.
[[nodiscard]] std::size_t fastest(std::size_t candidates, const std::function<double(std::size_t)>& rate);

// Measures the candidates for a kernel and returns the fastest form on the arrays and the pool of `stream`. Each run
// takes about `seconds_per_run`. `store`, if given, limits the forms to that kind of store. nullptr: no form has that
// kind.
[[nodiscard]] const Form* calibrate(Stream& stream, Kernel kernel, std::optional<Store> store, double seconds_per_run);

}  // namespace memsweep::probe
