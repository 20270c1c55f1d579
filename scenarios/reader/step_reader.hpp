// Reads the steps of one case. Replaces placeholders, converts the steps to the types of the model, and checks them
// against each other and against the case's memory.
//
// Errors   into Diagnostics: mistakes in keys and values; names that hold no arrays; arrays too large for 64 bits;
//          memory that cannot be touched; loops and samples beyond limits.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/specs.hpp"
#include "core/model/step.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/name_flow.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::scenarios {

// Returns the number of steps in a list, nested ones included. Works also before the steps have been read.
[[nodiscard]] std::size_t count_steps(const SourceNode& steps);

// A mistake in the value of one key.
struct KeyProblem {
    std::string_view key;
    std::string why;
};

// Completes a replay step with the facts of its trace. Returns why this memory and release mode cannot replay the
// trace; empty if they can. `touch_asked`: the user chose how the replay touches memory; otherwise the trace decides.
[[nodiscard]] std::vector<KeyProblem> settle_replay(model::ReplayStep& step, const TraceFacts& facts,
                                                    const model::MemorySpec& memory, const model::ReleaseSpec& release,
                                                    bool touch_asked);

class StepReader {
  public:
    // `ranks`: the number of MPI ranks of the steps; 0: one process.
    StepReader(const Reading& reading, const model::MemorySpec& memory, const model::ReleaseSpec& release,
               std::uint32_t ranks = 0);

    StepReader(const StepReader&) = delete;
    StepReader& operator=(const StepReader&) = delete;
    ~StepReader() = default;

    [[nodiscard]] std::vector<model::Step> read(const SourceNode& steps);

  private:
    std::optional<model::Step> read_step(const SourceNode& node);
    std::optional<model::Operation> blank_operation(const Fields& fields);

    // Checks an operation after the keys of its option table have been read. Most operations need no check beyond the
    // table.
    template <typename Operation>
    void check(const Fields& /*fields*/, Operation& /*step*/)
    {
    }
    void check(const Fields& fields, model::AllocStep& step);
    void check(const Fields& fields, model::WriteStep& step);
    void check(const Fields& fields, model::ReadStep& step);
    void check(const Fields& fields, model::BinaryStep& step);
    void check(const Fields& fields, model::ConcatStep& step);
    void check(const Fields& fields, model::ViewStep& step);
    void check(const Fields& fields, model::DropStep& step);
    void check(const Fields& fields, model::TrimStep& step);
    void check(const Fields& fields, model::PrefetchStep& step);
    void check(const Fields& fields, model::MigrateStep& step);
    void check(const Fields& fields, model::StreamStep& step);
    void check(const Fields& fields, model::TransferStep& step);
    void check(const Fields& fields, model::SampleStep& step);
    void check(const Fields& fields, model::ReplayStep& step);
    void check(const Fields& fields, model::RepeatStep& step);
    void check(const Fields& fields, model::ScopeStep& step);
    void check(const Fields& fields, model::ParallelStep& step);
    void check(const Fields& fields, model::PassStep& step);
    void check(const Fields& fields, model::ThrowStep& step);

    // Looks up the arrays that are named by the keys of an operation.
    void use_arrays(const Fields& fields, std::span<const OptionInfo> own, const void* step);
    // Null: the name could not be read, or holds no arrays. Either mistake has been reported.
    const Arrays* use(const Fields& fields, std::string_view key, const std::string& name);
    void check_between_ranks(const Fields& fields, const model::TransferStep& step);
    void read_transfers(const Fields& fields, model::TransferStep& step);
    // Calls `walk` with the nested steps of `fields`. Does not call it if there are none, or if they are nested too
    // deep.
    template <typename Walk>
    std::vector<model::Step> read_nested(const Fields& fields, const Walk& walk);
    static void check_in_parallel(const Fields& fields, std::string_view name, const model::Step& step);

    static void read_extents(const Fields& fields, model::AllocStep& step);
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
    NameFlow* flow_{&names_};  // a parallel block has a flow of its own
    std::uint64_t passes_{1};  // passes of the loops around the current step
    std::uint64_t samples_{};  // samples in one repetition, as far as the steps have been read
    std::uint64_t timed_calls_{};
    std::size_t depth_{};
    std::size_t scopes_{};    // number of scopes around the current step
    std::size_t parallel_{};  // number of parallel blocks around the current step: 0 or 1
};

}  // namespace memsweep::scenarios
