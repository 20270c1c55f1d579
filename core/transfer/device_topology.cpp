#include "core/transfer/device_topology.hpp"

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/transfer/device_plan.hpp"

namespace memsweep::transfer {

std::vector<model::CaseReport> probe_device_facts(const device::Runtime& runtime)
{
    std::vector<model::CaseReport> cases;
    for (std::uint32_t number = 0; number < runtime.devices().size(); ++number) {
        const device::DeviceFacts& facts = runtime.devices()[number];
        model::CaseReport& report = cases.emplace_back(new_case("probe_topology", {{"part", device_word(number)}}));
        set_fact(report, "name", facts.name);
        set_fact(report, "class", std::string{device::name_of(facts.device_class)});
        set_fact(report, "runtime", std::string{runtime.backend()});
        set_fact(report, "driver", facts.driver);
        set_fact(report, "memory", base::format_size(static_cast<double>(facts.memory_bytes)));
        set_fact(report, "compute_units", std::int64_t{facts.compute_units});
        if (!facts.bus_address.empty()) {
            set_fact(report, "bus_address", facts.bus_address);
        }
        if (facts.numa_node) {
            set_fact(report, "numa_node", std::int64_t{*facts.numa_node});
        }
        if (facts.copy_engines) {
            set_fact(report, "copy_engines", std::int64_t{*facts.copy_engines});
        }
        if (facts.memory_bytes_per_s) {
            set_fact(report, "memory_ceiling", fmt::format("{:.1f} GB/s", *facts.memory_bytes_per_s / 1e9));
        }
        if (const auto link = runtime.host_link(number)) {
            set_fact(report, "link", fmt::format("PCIe {} x{}, idle", link->generation, link->lanes));
        }
        for (std::uint32_t other = 0; other < runtime.devices().size(); ++other) {
            if (other != number) {
                const auto link = runtime.peer(number, other);
                set_fact(report, "peer_" + device_word(other), link.direct ? std::string{"yes"} : "no: " + link.reason);
            }
        }
    }
    if (cases.empty()) {
        cases.push_back(new_case("probe_topology", {{"part", std::string{"devices"}}}));
        skip(cases.back(), runtime.absence());
    }
    return cases;
}

std::vector<std::string> device_lines(const device::Runtime& runtime)
{
    std::vector<std::string> lines;
    for (std::uint32_t number = 0; number < runtime.devices().size(); ++number) {
        const device::DeviceFacts& facts = runtime.devices()[number];
        lines.push_back(fmt::format("{}: {} ({}{}{})", device_word(number), facts.name, facts.architecture,
                                    facts.architecture.empty() ? "" : ", ", facts.driver));
    }
    return lines;
}

}  // namespace memsweep::transfer
