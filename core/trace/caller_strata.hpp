// Estimates the figures of call stacks in a trace that has stacks only for a sample of its blocks. For every block,
// such a trace has the size and the address of the code that requested it (its caller).
//
// A stratum is all blocks that were requested from one address and whose sizes lie between the same two powers of two.
// The figures of a stratum (AllocationFigures) are known exactly. Each figure is divided among the stacks of the
// stratum's sampled blocks, in proportion to the same figure of these blocks (each block counts with its weight). If
// this figure is 0 for all sampled blocks of the stratum, the next of these rules applies:
// 1. The proportions are those of the same figure of all sampled blocks of this address, of every size.
// 2. The proportions are those of bytes_allocated of all sampled blocks of this address.
// 3. The whole figure goes to a stack that consists only of this address.
// So the sums by address and the total are exact.
//
// Units    bytes, counts.
// Sources  post-stratification: Holt, Smith, "Post stratification", JRSS A 142, 1979.
// Cost     10 ns per block.
// Memory   100 bytes per stratum; 200 bytes for each pair of a sampled stack and a power of two.
// Threads  one.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/trace/allocation_ledger.hpp"
#include "core/trace/stack_table.hpp"

namespace memsweep::trace {

// Divides `sum` into whole numbers in these proportions. At least one of the proportions must not be 0.
[[nodiscard]] std::vector<std::uint64_t> shared_out(std::uint64_t sum, const std::vector<std::uint64_t>& proportions);

class CallerStrata {
  public:
    struct Place {
        std::uint32_t stratum{};
        std::uint32_t sampled{};  // number of a pair of stack and power of two; 0: not in the sample
    };

    CallerStrata(const StackTable& table, std::uint64_t unit) : table_{&table}, sampled_{unit} {}

    // Returns where a block of this size and stack node is counted. If the node's stack has only one address, the block
    // is not in the sample.
    [[nodiscard]] Place place_of(std::uint32_t node, std::uint64_t size);
    void make(const Place& place, std::uint64_t size, const AllocationLedger::Weight& weight);
    void free(const Place& place, std::uint64_t size, const AllocationLedger::Weight& weight, bool is_temporary);
    void abandon(const Place& place, std::uint64_t size, const AllocationLedger::Weight& weight);
    void begin_peak();

    // Says for each requesting address, by its number, whether the group of each of its blocks is known. The groups are
    // known if all nodes of the address are in one group, or if all blocks of the address were sampled. `groups` has
    // the group of each node.
    [[nodiscard]] std::vector<bool> origins_of_known_group(const std::vector<std::uint32_t>& groups);
    // Returns the number of the address that requested the blocks which are counted at `place`.
    [[nodiscard]] std::uint32_t origin_of(const Place& place) const { return strata_[place.stratum].origin; }

    // Returns the estimated figures of each node. Do not use own_peak_bytes, which is not known.
    [[nodiscard]] std::vector<AllocationFigures> figures() const;
    // Returns how much memory this object takes, in "things" (bounds.hpp).
    [[nodiscard]] std::uint64_t held() const { return strata_.size() + 2 * samples_.size(); }

  private:
    static constexpr std::uint32_t powers = 65;
    struct Stratum {
        std::uint32_t origin{};  // number of the address
        std::uint32_t alone{};   // the node of the stack that is only this address; 0: none
    };
    struct Sample {
        std::uint32_t node{};
        std::uint32_t stratum{};
        std::uint32_t origin{};
    };
    std::uint32_t origin_of(std::uint32_t node);

    const StackTable* table_;
    // By process, image and address: the number of the address.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> origins_;
    std::vector<std::uint32_t> origin_of_node_;  // number of the address plus one; 0: not looked up yet
    std::vector<std::uint32_t> numbers_;         // number of the stratum plus one, by origin and power
    std::vector<Stratum> strata_;
    std::unordered_map<std::uint64_t, std::uint32_t> sample_numbers_;  // by node and power
    std::vector<Sample> samples_{Sample{}};
    AllocationLedger exact_{1};
    AllocationLedger sampled_;
};

}  // namespace memsweep::trace
