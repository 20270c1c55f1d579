// The settings that `advise` tries on a program, and the malloc that serves the program without them.
//
// Units    bytes.
// Cost     for each setting a process that does nothing. It shows whether the allocator installed here knows the
//          setting.
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

// Fills in whose malloc serves the program. If the tree has several programs, one whose malloc is not the C library's
// decides, because settings of glibc would reach only part of the tree.
void take_origin(const base::Expected<trace::CountedTree>& tree, reporters::AdvisedProgram& program);

// What is tried, and what is left out with the reason.
class Candidates {
  public:
    Candidates(const AdviceQuestion& question, const reporters::AdvisedProgram& program, std::uint64_t memory);

    [[nodiscard]] const std::vector<reporters::AdviceTry>& tries() const { return tries_; }
    // The settings that are tried, by their place in tries().
    [[nodiscard]] const std::vector<std::size_t>& admitted() const { return admitted_; }
    [[nodiscard]] const model::AllocatorSpec& spec(std::size_t admitted) const { return specs_[admitted]; }
    // The program is linked with that allocator.
    [[nodiscard]] bool comes_along(std::size_t admitted) const;
    // Sorts the settings: the smallest prediction first, those without a prediction last.
    void put_best_first();
    // `bytes`: how far the replay under the setting is from the replay of the unchanged program.
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
