#include "core/engine/command/command_report.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/engine/repetition/kept_facts.hpp"

namespace memsweep::engine {
namespace {

constexpr std::string_view input_fact = "input";  // how much a command has read, and its digest

// What a program left behind, and what it printed: told by its checksum, which must be that of the first repetition.
// Why the repetition is none; empty otherwise.
std::string keep_command_facts(const CommandRecord& command, std::vector<model::Param>& facts)
{
    if (command.left_processes != 0) {
        keep_fact("left behind",
                  fmt::format("{} killed when the program had ended",
                              command.left_processes == 1 ? "1 process was"
                                                          : fmt::format("{} processes were", command.left_processes)),
                  facts);
    }
    keep_fact("end of work", command.at_end.why_none, facts);
    keep_fact(output_fact, command.checksum, facts);
    const model::Scalar* const first = model::find_value(facts, output_fact);
    return first == nullptr || command.checksum.empty() || model::to_text(*first) == command.checksum
               ? ""
               : fmt::format("printed something else ({}) than in its first repetition ({})", command.checksum,
                             model::to_text(*first));
}

}  // namespace

std::string keep_facts(const model::CommandSpec& command, const CommandRecord& measured, bool has_finished,
                       model::CaseReport& report)
{
    keep_fact(input_fact, command.input_contents, report.facts);
    report.names = report.names ? report.names : measured.names;
    keep_fact(model::uncounted_fact, measured.why_uncounted, report.facts);
    if (measured.counted_under_bytes != 0) {
        keep_fact(model::counted_under_fact, base::exact_size(measured.counted_under_bytes), report.facts);
    }
    keep_fact(model::unverified_allocator_fact, measured.why_unasked, report.facts);
    return has_finished ? keep_command_facts(measured, report.facts) : "";
}

}  // namespace memsweep::engine
