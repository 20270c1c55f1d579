// The memory and release blocks of one case.
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

// Keys of a mode that is not selected are read and checked all the same: an axis over modes shares one block.
model::ReleaseSpec read_release(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"release\"", reading};
    fields.check(release_options());
    model::ReleaseSpec release;
    fields.read_choice("mode", release.mode);
    fields.read("finalizer_threads", release.finalizer_threads);
    fields.read("gated", release.gated);
    fields.read("collect_every", release.collect_every);
    fields.read("release_cost", release.release_cost_ns);
    fields.read("batch", release.batch);
    return release;
}

}  // namespace memsweep::scenarios
