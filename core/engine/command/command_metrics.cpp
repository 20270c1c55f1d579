#include "core/engine/command/command_metrics.hpp"

#include <chrono>
#include <string_view>

namespace memsweep::engine {
namespace {

using values::Value;
using Id = model::MetricId;
using Context = CommandRow::Context;

bool any_command(const model::CommandSpec& /*command*/)
{
    return true;
}

bool counts_allocations(const model::CommandSpec& command)
{
    return command.count;
}

bool has_end_of_work(const model::CommandSpec& command)
{
    return command.end.sign != model::EndSign::none;
}

template <auto count>
Value told(const Context& context)
{
    return static_cast<double>(context.measured.*count);
}

template <auto ns>
Value told_time(const Context& context)
{
    return values::seconds(context.measured.*ns);
}

template <auto time>
Value told_duration(const Context& context)
{
    return std::chrono::duration<double>(context.measured.*time).count();
}

template <auto count>
Value counted_by_hardware(const Context& context)
{
    const auto& counted = context.measured.hardware.*count;
    return counted ? Value{static_cast<double>(*counted)} : Value{};
}

template <auto count>
Value allocations_counted(const Context& context)
{
    const auto& counts = context.measured.counts;
    return counts ? Value{static_cast<double>((*counts).*count)} : Value{};
}

Value unknown(const Context& /*context*/)
{
    return std::nullopt;
}

constexpr std::string_view no_counters =
    "this machine lets nobody here count instructions and cycles (perf_event_open; kernel.perf_event_paranoid)";
constexpr std::string_view none_counted = "a command's allocations are not counted in this repetition";

constexpr auto
    rows_of_commands = each_metric_once(std::
                                            to_array<CommandRow>(
                                                {
                                                    {Id::wall_time, any_command, told_time<&CommandRecord::wall_ns>},
                                                    {Id::cpu_time, any_command, told_time<&CommandRecord::cpu_ns>},
                                                    {Id::working_set_peak, any_command,
                                                     told<&CommandRecord::peak_working_set_bytes>},
                                                    {Id::residual_working_set, any_command, unknown,
                                                     "a command has ended when it is looked at"},
                                                    {Id::live_bytes_peak, any_command,
                                                     allocations_counted<&trace::Counts::live_bytes_peak>,
                                                     none_counted},
                                                    {Id::floating_bytes_peak, any_command, unknown,
                                                     "what a command gives up and does not free is not known"},
                                                    {Id::minor_faults, any_command, told<&CommandRecord::minor_faults>},
                                                    {Id::major_faults, any_command, told<&CommandRecord::major_faults>},
                                                    {Id::allocations, counts_allocations,
                                                     allocations_counted<&trace::Counts::allocations>, none_counted},
                                                    {Id::allocated_bytes, counts_allocations,
                                                     allocations_counted<&trace::Counts::allocated_bytes>,
                                                     none_counted},
                                                    {Id::user_time, any_command,
                                                     told_duration<&CommandRecord::user_time>},
                                                    {Id::system_time, any_command,
                                                     told_duration<&CommandRecord::system_time>},
                                                    {Id::context_switches, any_command,
                                                     told<&CommandRecord::context_switches>},
                                                    {Id::read_bytes, any_command, told<&CommandRecord::read_bytes>},
                                                    {Id::written_bytes, any_command,
                                                     told<&CommandRecord::written_bytes>},
                                                    {Id::pressure, any_command,
                                                     [](const Context& c)
                                                         -> Value { return c.measured.pressure_seconds; },
                                                     "the kernel keeps no pressure figures (/proc/pressure/memory)"},
                                                    {Id::instructions, any_command,
                                                     counted_by_hardware<&sys::HardwareCounts::instructions>,
                                                     no_counters},
                                                    {Id::cycles, any_command,
                                                     counted_by_hardware<&sys::HardwareCounts::cycles>, no_counters},
                                                    {Id::working_set_end, has_end_of_work,
                                                     [](const Context& c) -> Value {
                                                         const auto bytes =
                                                             static_cast<double>(c.measured.at_end.working_set_bytes);
                                                         return bytes > 0 ? Value{bytes} : Value{};
                                                     },
                                                     "its work was not seen to end, or its memory could not be read "
                                                     "then: the fact end of work says which"},
                                                    {Id::live_bytes_end, counts_allocations,
                                                     allocations_counted<&trace::Counts::live_bytes_end>, none_counted},
                                                }));

}  // namespace

std::span<const CommandRow> command_rows()
{
    return rows_of_commands;
}

}  // namespace memsweep::engine
