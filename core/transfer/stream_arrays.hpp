// Three arrays of equal length that kernels move bytes between: a is written, b and c are only read.
//
// Units    elements are doubles.
// Memory   three times the bytes asked for, in pages of one size and from one node; touched and filled before it
//          returns. The arrays start at different offsets within a page and 64 KiB further apart than they are long, so
//          that the same element of two shares neither its low address bits nor a bank of memory.
// Errors   those of PagedMemory and bind_to_node.
// Threads  filling, poisoning and checking are done by the gang that is passed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/mapped_pages.hpp"
#include "core/sys/numa_nodes.hpp"
#include "core/transfer/gang.hpp"
#include "core/transfer/kernel.hpp"

namespace memsweep::transfer {

// A run of chunks, and how many times each of them was gone over.
struct Visits {
    std::size_t first_chunk{};
    std::vector<std::uint32_t> counts;
};

class StreamArrays {
  public:
    // `bytes_per_array` is rounded down to whole chunks, at least one of a page. `shares`: into how many equal parts
    // the arrays will be divided; the largest number of threads.
    struct Spec {
        std::uint64_t bytes_per_array{};
        sys::PageSize pages{};
        std::optional<std::uint32_t> node;  // absent: wherever the kernel puts it
        std::size_t shares{1};
    };
    [[nodiscard]] static base::Expected<StreamArrays> make(const Spec& spec, Gang& gang);

    [[nodiscard]] std::uint64_t bytes_per_array() const noexcept { return chunks_ * chunk_elements_ * sizeof(double); }
    [[nodiscard]] std::size_t chunks() const noexcept { return chunks_; }
    [[nodiscard]] std::size_t chunk_elements() const noexcept { return chunk_elements_; }
    [[nodiscard]] Operands chunk(std::size_t number) const noexcept;
    [[nodiscard]] std::uint64_t sum_of_b(std::size_t chunk) const noexcept { return sums_of_b_[chunk]; }

    // All of a, for who has no more use for what it holds.
    [[nodiscard]] std::span<double> whole_a() noexcept { return {a_, chunks_ * chunk_elements_}; }

    // Writes into a, from that chunk on, what no kernel leaves there.
    void poison(std::size_t first_chunk, std::size_t count, Gang& gang);

    // What is wrong with a after the kernel has gone over poisoned chunks as often as `visits` says (0: not at all), in
    // words with the place; empty when every element is right.
    [[nodiscard]] std::string check(Kernel kernel, double scalar, const Visits& visits, Gang& gang) const;

    // By the kernel's word.
    [[nodiscard]] base::Expected<sys::PagesGot> pages_got() const;
    [[nodiscard]] base::Expected<sys::PagesByNode> pages_by_node() const;

  private:
    explicit StreamArrays(sys::PagedMemory memory) : memory_{std::move(memory)} {}
    void fill(Gang& gang);

    sys::PagedMemory memory_;
    double* a_{};
    double* b_{};
    double* c_{};
    std::size_t chunks_{};
    std::size_t chunk_elements_{};
    std::vector<std::uint64_t> sums_of_b_;
};

// What the arrays hold: whole numbers below 2^22, different at every position, so that arithmetic on them is exact and
// data that arrives at the wrong place is seen.
[[nodiscard]] double b_at(std::size_t element) noexcept;
[[nodiscard]] double c_at(std::size_t element) noexcept;
[[nodiscard]] double poison_at(std::size_t element) noexcept;

// The bits that the kernel must leave in a, where it went over a poisoned element so many times.
[[nodiscard]] std::uint64_t expected_bits(Kernel kernel, std::size_t element, double scalar,
                                          std::uint32_t visits) noexcept;

}  // namespace memsweep::transfer
