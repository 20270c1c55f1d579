#include "core/lifetime/leak_discipline.hpp"

#include "core/lifetime/lost_memory.hpp"

namespace memsweep::lifetime {

void LeakDiscipline::unreachable(Block& block) noexcept
{
    floating_.add(block);
    disown(block.data);
}

DisciplineStats LeakDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    stats.floating_bytes = floating_.bytes();
    stats.floating_blocks = floating_.blocks();
    stats.floating_bytes_peak = floating_.peak_bytes();
    return stats;
}

}  // namespace memsweep::lifetime
