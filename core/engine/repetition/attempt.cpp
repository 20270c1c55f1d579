#include "core/engine/repetition/attempt.hpp"

namespace memsweep::engine {
namespace {

// What every subject has a member of that name for.
template <auto of_steps, auto of_commands>
auto common(const Attempt& attempt)
{
    if (const auto* const steps = std::get_if<StepMeasurements>(&attempt.measured)) {
        return steps->record.*of_steps;
    }
    const auto* const command = std::get_if<CommandRecord>(&attempt.measured);
    return command == nullptr ? std::remove_cvref_t<decltype(command->*of_commands)>{} : command->*of_commands;
}

}  // namespace

std::int64_t Attempt::wall_ns() const
{
    return common<&StepRecord::wall_ns, &CommandRecord::wall_ns>(*this);
}

std::uint64_t Attempt::peak_working_set_bytes() const
{
    return common<&StepRecord::peak_working_set_bytes, &CommandRecord::peak_working_set_bytes>(*this);
}

}  // namespace memsweep::engine
