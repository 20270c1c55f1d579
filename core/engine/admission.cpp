#include "core/engine/admission.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/model/specs.hpp"

namespace memsweep::engine {
namespace {

std::string trim_refusal(const model::Case& plan_case, const Capabilities& has)
{
    for (const model::TrimHow how : model::trims(plan_case)) {
        if (how == model::TrimHow::pageout && has.swap_bytes == 0) {
            return "requires swap: trim pageout writes pages to it, and this machine has none on (/proc/swaps)";
        }
        if (how == model::TrimHow::cgroup && !has.no_reclaim.empty()) {
            return fmt::format("requires memory.reclaim: trim cgroup asks the control group, and {}", has.no_reclaim);
        }
    }
    return {};
}

}  // namespace

std::string refusal(const model::Case& plan_case, std::uint64_t estimate_bytes, const model::Requirements& needs,
                    const Capabilities& has, const RunOptions& options)
{
    if (needs.ranks.count != 0) {
        return fmt::format("needs {}; run it with memsweep-mpi", model::to_text(needs.ranks));
    }
    if (needs.memory_bytes > has.memory_bytes) {
        const std::string wanted = base::format_size(needs.memory_bytes);
        return has.memory_bytes == 0
                   ? fmt::format("requires {} of memory; what is available cannot be read (/proc/meminfo)", wanted)
                   : fmt::format("requires {} of memory; {} is available", wanted, base::format_size(has.memory_bytes));
    }
    if (needs.numa_nodes > has.numa_nodes) {
        return fmt::format("requires {} NUMA nodes; this machine has {}", needs.numa_nodes, has.numa_nodes);
    }
    if (plan_case.memory.pages == model::PageKind::thp && has.huge_page_bytes == 0) {
        return "requires transparent huge pages; this kernel has them off "
               "(/sys/kernel/mm/transparent_hugepage/enabled)";
    }
    if (plan_case.memory.numa.policy == model::NumaPolicy::weighted && !has.weighted_interleave) {
        return "requires an interleave by weights, which Linux 6.9 brought "
               "(/sys/kernel/mm/mempolicy/weighted_interleave)";
    }
    if (std::string why = trim_refusal(plan_case, has); !why.empty()) {
        return why;
    }
    if (options.array_limit_bytes != 0 && model::estimated_peak_bytes(plan_case) > options.array_limit_bytes) {
        return fmt::format("--quick skips cases that hold more than {}", base::format_size(options.array_limit_bytes));
    }
    if (options.memory_budget_bytes != 0 && estimate_bytes > options.memory_budget_bytes &&
        !model::is_on_device(plan_case.memory.resource)) {
        return fmt::format("would hold up to {} at once{}, above the budget of {} (--max-memory)",
                           base::format_size(estimate_bytes),
                           plan_case.placement == model::Placement::alone ? "" : ", with what its sweep has left",
                           base::format_size(options.memory_budget_bytes));
    }
    return {};
}

std::string settle_allocator(model::AllocatorSpec& allocator, const Capabilities& has)
{
    if (allocator.name.empty()) {
        return {};
    }
    if (!has.locate_allocator) {
        return "requires an allocator of its own, which only a worker process can have";
    }
    auto library = has.locate_allocator(allocator.name);
    if (!library) {
        return fmt::format("requires the allocator {}: {}", allocator.name, library.error().message);
    }
    allocator.library = *std::move(library);
    return {};
}

}  // namespace memsweep::engine
