#include "core/transfer/topology_probe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/memory_pressure.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::transfer {
namespace {

std::int64_t whole(std::uint64_t count)
{
    return static_cast<std::int64_t>(count);
}

model::CaseReport part(std::string name)
{
    return new_case("probe_topology", {{"part", std::move(name)}});
}

model::CaseReport processors(const ProbeContext& context)
{
    model::CaseReport report = part("processors");
    set_fact(report, "online", whole(context.topology.processors));
    set_fact(report, "usable", whole(sys::allowed_cpus().size()));
    if (context.topology.packages != 0) {
        set_fact(report, "cores", whole(context.topology.cores));
        set_fact(report, "packages", whole(context.topology.packages));
    }
    return report;
}

model::CaseReport cache(const sys::CacheFacts& facts)
{
    const char letter = facts.type == "Data" ? 'd' : facts.type == "Instruction" ? 'i' : ' ';
    model::CaseReport report = part(letter == ' ' ? fmt::format("l{}_{}", facts.level, facts.bytes)
                                                  : fmt::format("l{}{}_{}", facts.level, letter, facts.bytes));
    set_fact(report, "size", base::exact_size(facts.bytes));
    set_fact(report, "type", facts.type);
    set_fact(report, "instances", whole(facts.instances));
    set_fact(report, "shared_by", whole(facts.shared_by));
    set_fact(report, "line_bytes", whole(facts.line_bytes));
    return report;
}

model::CaseReport node(const sys::NumaNode& facts)
{
    model::CaseReport report = part(fmt::format("node{}", facts.id));
    set_fact(report, "memory", base::format_size(static_cast<double>(facts.memory_bytes)));
    set_fact(report, "memory_bytes", whole(facts.memory_bytes));
    set_fact(report, "processors",
             facts.cpus.empty() ? std::string{"none that may be used"} : fmt::format("{}", fmt::join(facts.cpus, ",")));
    if (!facts.distances.empty()) {
        set_fact(report, "distances", fmt::format("{}", fmt::join(facts.distances, ",")));
    }
    return report;
}

model::CaseReport pages(const ProbeContext& context)
{
    model::CaseReport report = part("pages");
    set_fact(report, "base", base::exact_size(sys::page_size()));
    const std::uint64_t huge = sys::huge_page_bytes();
    set_fact(report, "transparent_huge", huge == 0 ? std::string{"none"} : base::exact_size(huge));
    for (const sys::HugePagePool& pool : context.topology.huge_pages) {
        set_fact(report, "reserved_" + base::exact_size(pool.page_bytes),
                 fmt::format("{}, {} of them free", pool.reserved, pool.free));
    }
    return report;
}

model::CaseReport pressure()
{
    model::CaseReport report = part("pressure");
    set_fact(report, "available", base::format_size(static_cast<double>(sys::available_memory())));
    const auto stalled = sys::memory_stalled_percent("/");
    set_fact(report, "stalled",
             stalled ? fmt::format("{} % of the last ten seconds (PSI)", *stalled)
                     : std::string{"unknown: this kernel keeps no pressure figures"});
    const auto used = sys::cgroup_share_used("/");
    set_fact(report, "cgroup_used",
             used ? fmt::format("{:.0f} % of the tightest limit", *used * 100) : std::string{"no limit"});
    return report;
}

}  // namespace

std::vector<model::CaseReport> probe_topology(const ProbeContext& context)
{
    std::vector<model::CaseReport> cases{processors(context)};
    for (const sys::CacheFacts& facts : context.topology.caches) {
        cases.push_back(cache(facts));
    }
    for (const sys::NumaNode& facts : context.nodes) {
        cases.push_back(node(facts));
    }
    cases.push_back(pages(context));
    cases.push_back(pressure());
    return cases;
}

}  // namespace memsweep::transfer
