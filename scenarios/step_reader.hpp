// The steps of one case: substituted, typed, and checked against each other and the memory they run on.
//
// Errors   into Diagnostics: every key and value; names that hold no arrays; arrays too large for 64 bits; memory that
//          cannot be touched; loops and samples beyond limits.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/specs.hpp"
#include "core/model/step.hpp"
#include "scenarios/fields.hpp"
#include "scenarios/name_flow.hpp"

namespace memsweep::scenarios {

// Steps in a list, nested ones included, before anything is typed.
[[nodiscard]] std::size_t count_steps(const Node& steps);

class StepReader {
  public:
    // `ranks`: of MPI, that the steps are for; 0: for one process.
    StepReader(const Reading& reading, const model::MemorySpec& memory, const model::ReleaseSpec& release,
               std::uint32_t ranks = 0);

    StepReader(const StepReader&) = delete;
    StepReader& operator=(const StepReader&) = delete;
    ~StepReader() = default;

    [[nodiscard]] std::vector<model::Step> read(const Node& steps);

  private:
    std::optional<model::Step> read_step(const Node& node);
    std::optional<model::Operation> blank_operation(const Fields& fields);

    void fill(const Fields& fields, model::AllocStep& step);
    void fill(const Fields& fields, model::WriteStep& step);
    void fill(const Fields& fields, model::ReadStep& step);
    void fill(const Fields& fields, model::BinaryStep& step);
    void fill(const Fields& fields, model::ConcatStep& step);
    void fill(const Fields& fields, model::ViewStep& step);
    void fill(const Fields& fields, model::FreeStep& step);
    void fill(const Fields& fields, model::ReleaseStep& step);
    void fill(const Fields& fields, model::DropStep& step);
    void fill(const Fields& fields, model::CollectStep& step);
    void fill(const Fields& fields, model::DrainStep& step);
    void fill(const Fields& fields, model::TrimStep& step);
    void fill(const Fields& fields, model::PrefetchStep& step);
    void fill(const Fields& fields, model::MigrateStep& step);
    void fill(const Fields& fields, model::StreamStep& step);
    void fill(const Fields& fields, model::ShareStep& step);
    void fill(const Fields& fields, model::TransferStep& step);
    void fill(const Fields& fields, model::SampleStep& step);
    void fill(const Fields& fields, model::IdleStep& step);
    void fill(const Fields& fields, model::ReplayStep& step);
    void fill(const Fields& fields, model::PurgeStep& step);
    void fill(const Fields& fields, model::RepeatStep& step);
    void fill(const Fields& fields, model::ScopeStep& step);
    void fill(const Fields& fields, model::ParallelStep& step);
    void fill(const Fields& fields, model::PassStep& step);
    void fill(const Fields& fields, model::ThrowStep& step);
    void check_between_ranks(const Fields& fields, const model::TransferStep& step);
    void read_transfers(const Fields& fields, model::TransferStep& step);
    [[nodiscard]] bool enter_nested(const Node& steps);
    static void check_in_parallel(const Fields& fields, std::string_view name, const model::Step& step);

    void read_extents(const Fields& fields, model::AllocStep& step);
    void check_alloc(const Fields& fields, const model::AllocStep& step);
    void check_touchable(const Fields& fields, bool touches, std::string_view key);
    void check_advisable(const Fields& fields);
    static void complain_of(const Fields& fields, std::string_view key, std::string why);
    void bind(const std::string& name, Arrays arrays);

    Reading reading_;
    model::MemorySpec memory_;
    model::ReleaseSpec release_;
    std::uint32_t ranks_;
    NameFlow names_;
    NameFlow* flow_{&names_};  // a parallel block has its own
    std::uint64_t passes_{1};  // of the loops around the current step
    std::uint64_t samples_{};  // of one repetition, so far
    std::uint64_t timed_calls_{};
    std::size_t depth_{};
    std::size_t scopes_{};    // around the current step
    std::size_t parallel_{};  // the same: 1 in a parallel block
};

}  // namespace memsweep::scenarios
