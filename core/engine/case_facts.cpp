#include "core/engine/case_facts.hpp"

#include <type_traits>
#include <variant>

#include "core/engine/subjects.hpp"

namespace memsweep::engine {
namespace {

// The first repetition's word stands: later ones have the same library.
void keep_allocator(const Attempt& attempt, model::AllocatorInfo& info)
{
    if (!info.name.empty() && info.library.empty()) {
        info.library = attempt.allocator.library;
        info.format = attempt.allocator.format;
        info.statistics = attempt.allocator.statistics;
    }
}

}  // namespace

std::string keep_facts(const CompiledCase& compiled, const Attempt& attempt, model::CaseReport& report)
{
    keep_allocator(attempt, report.allocator);
    return std::visit(
        [&]<typename Work, typename Measured>(const Work& work, const Measured& measured) -> std::string {
            if constexpr (std::is_same_v<Measured, typename RowOf<Work>::Measured>) {
                return keep_facts(work, measured, attempt.ending == Ending::finished, report);
            } else {
                return {};  // nothing was measured
            }
        },
        compiled.work, attempt.measured);
}

}  // namespace memsweep::engine
