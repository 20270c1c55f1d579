// A case ready to be run: its steps compiled, or the foreign program that it runs.
#pragma once

#include <variant>

#include "core/engine/repetition/step_program.hpp"
#include "core/model/allocator.hpp"
#include "core/model/command.hpp"

namespace memsweep::engine {

struct CompiledCase {
    model::AllocatorSpec allocator{};  // serves the worker, or the program
    std::variant<StepProgram, model::CommandSpec> work{};

    // The work, for a caller that knows its kind.
    [[nodiscard]] StepProgram& steps() { return std::get<StepProgram>(work); }
    [[nodiscard]] const StepProgram& steps() const { return std::get<StepProgram>(work); }
    [[nodiscard]] model::CommandSpec& command() { return std::get<model::CommandSpec>(work); }
    [[nodiscard]] const model::CommandSpec& command() const { return std::get<model::CommandSpec>(work); }
};

}  // namespace memsweep::engine
