#include "core/engine/trimming.hpp"

#include "core/memory/trim.hpp"
#include "core/sys/cgroup_reclaim.hpp"

namespace memsweep::engine {

Trimming::Trimming(Environment environment, const model::TrimPolicy& policy, RepetitionRecord& record)
    : probe_{environment.probe}, policy_{policy}, record_{record},
      reclaim_file_{sys::cgroup_reclaim_file("/").value_or("")}
{
}

bool Trimming::is_above() const
{
    const auto snapshot = probe_.snapshot();
    return snapshot && snapshot->working_set_bytes() > policy_.above_bytes;
}

void Trimming::trim(const array::Array& array, model::TrimHow how)
{
    if (!array || array.is_freed() || how == model::TrimHow::none) {
        return;
    }
    ++record_.trims;
    if (how == model::TrimHow::cgroup) {
        const bool done = !reclaim_file_.empty() && sys::reclaim_from_cgroup(reclaim_file_, array.bytes());
        record_.trimmed_bytes += done ? array.bytes() : 0;
        record_.trims_refused += done ? 0 : 1;
        return;
    }
    const memory::Trimmed trimmed = memory::trim(array.data(), array.bytes(), how);
    record_.trimmed_bytes += trimmed.bytes;
    record_.trims_refused += trimmed.refused ? 1 : 0;
}

}  // namespace memsweep::engine
