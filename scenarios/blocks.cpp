// The memory and safety blocks of one case.
#include <fmt/format.h>

#include "scenarios/case_reader.hpp"

namespace memsweep::scenarios {

model::MemorySpec read_memory(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"memory\"", reading};
    fields.check(memory_options());
    model::MemorySpec memory;
    fields.read_choice("resource", memory.resource);
    fields.read_choice("pages", memory.pages);
    fields.read("limit", memory.limit_bytes);
    fields.read("fail_every", memory.fail_every);
    if (memory.pages != model::PageKind::system && memory.resource != model::ResourceKind::pages) {
        fields.complain(fields.place("pages"),
                        fmt::format("\"pages\" can be chosen with resource \"pages\" only, not with \"{}\"",
                                    model::name_of(memory.resource)));
    }
    return memory;
}

model::SafetySpec read_safety(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"safety\"", reading};
    fields.check(safety_options());
    model::SafetySpec safety;
    fields.read_choice("detect", safety.detect);
    fields.read("quarantine", safety.quarantine_bytes);
    fields.read("guard_pages", safety.guard_pages);
    fields.read("ignore_manual_free", safety.ignore_manual_free);
    return safety;
}

}  // namespace memsweep::scenarios
