// The settings that `advise` tries on a program, and whose malloc serves it before.
//
// Units    bytes.
// Cost     a process that does nothing for each setting: whether the allocator installed here knows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands/advising.hpp"
#include "core/base/expected.hpp"
#include "core/model/allocator_settings.hpp"
#include "core/trace/counts.hpp"
#include "reporters/document/advice.hpp"

namespace memsweep::app {

// Fills in whose malloc serves it. Of several programs that which is not the C library's counts, since settings of
// glibc would reach only part of the tree.
void take_origin(const base::Expected<trace::CountedTree>& tree, reporters::AdvisedProgram& program);

// What is tried, and what is left out with the reason.
class Candidates {
  public:
    Candidates(const AdviceQuestion& question, const reporters::AdvisedProgram& program, std::uint64_t memory);

    [[nodiscard]] const std::vector<reporters::AdviceTry>& tries() const { return tries_; }
    // Those that are tried, by their place in tries().
    [[nodiscard]] const std::vector<std::size_t>& admitted() const { return admitted_; }
    [[nodiscard]] const model::AllocatorSpec& spec(std::size_t admitted) const { return specs_[admitted]; }
    // The program is linked with that allocator.
    [[nodiscard]] bool comes_along(std::size_t admitted) const;
    // Those that are predicted to need least come first, and those without a prediction last.
    void put_best_first();
    // The program as it is was replayed, and so were settings: what each of them is away from it, in bytes.
    void take_prediction(std::size_t admitted, double bytes) { tries_[admitted_[admitted]].predicted = bytes; }

  private:
    struct Refusal {
        std::string word;
        std::string why;
    };

    void add(const model::AllocatorChoice& choice);
    [[nodiscard]] Refusal why_not(const model::AllocatorChoice& choice, model::AllocatorSpec& spec) const;

    const AdviceQuestion& question_;
    const reporters::AdvisedProgram& program_;
    std::uint64_t memory_;
    std::vector<reporters::AdviceTry> tries_;
    std::vector<std::size_t> admitted_;
    std::vector<model::AllocatorSpec> specs_;
};

}  // namespace memsweep::app
