#include "core/lifetime/leak_discipline.hpp"

// Present only when a leak checker is linked in: this leak is the measurement, not a mistake.
extern "C" void __lsan_ignore_object(const void* pointer) __attribute__((weak));

namespace memsweep::lifetime {

void LeakDiscipline::unreachable(Block& block) noexcept
{
    floating_.add(block.bytes);
    if (__lsan_ignore_object != nullptr) {
        __lsan_ignore_object(block.data);
    }
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
