// The allocator settings that `advise` tries on a program, and the malloc that the program uses by default.
//
// Units    bytes.
// Cost     that of checking each setting (core/sys/settings_taken.hpp): for most of them a process that does nothing.
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

// Fills in which allocator's malloc the program uses. If the process tree has several programs, takes the malloc of the
// first one that does not use glibc's, because settings of glibc would not affect that program.
void take_origin(const base::Expected<trace::CountedTree>& tree, reporters::AdvisedProgram& program);

// Lists the settings that are tried, and the settings that are left out, each with the reason.
class Candidates {
  public:
    Candidates(const AdviceQuestion& question, const reporters::AdvisedProgram& program, std::uint64_t memory);

    [[nodiscard]] const std::vector<reporters::AdviceTry>& tries() const { return tries_; }
    // Returns the settings that will be tried, as indices into tries(). The parameter `admitted` of other functions is
    // an index into this vector.
    [[nodiscard]] const std::vector<std::size_t>& admitted() const { return admitted_; }
    [[nodiscard]] const model::AllocatorSpec& spec(std::size_t admitted) const { return specs_[admitted]; }
    // Says whether the program itself is linked with the allocator that this setting is for.
    [[nodiscard]] bool comes_along(std::size_t admitted) const;
    // Sorts the admitted settings: the smallest prediction first, settings without a prediction last.
    void put_best_first();
    // Stores a prediction. `bytes`: the predicted memory of the program under the setting.
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
