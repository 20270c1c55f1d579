// A case that is ready to run: its compiled steps, or the foreign program that it runs.
#pragma once

#include <variant>

#include "core/engine/repetition/step_program.hpp"
#include "core/model/allocator.hpp"
#include "core/model/command.hpp"

namespace memsweep::engine {

struct CompiledCase {
    model::AllocatorSpec allocator{};  // the malloc of the worker, or of the program
    std::variant<StepProgram, model::CommandSpec> work{};

    // The work. The caller must know which kind it is.
    [[nodiscard]] StepProgram& steps() { return std::get<StepProgram>(work); }
    [[nodiscard]] const StepProgram& steps() const { return std::get<StepProgram>(work); }
    [[nodiscard]] model::CommandSpec& command() { return std::get<model::CommandSpec>(work); }
    [[nodiscard]] const model::CommandSpec& command() const { return std::get<model::CommandSpec>(work); }
};

}  // namespace memsweep::engine
