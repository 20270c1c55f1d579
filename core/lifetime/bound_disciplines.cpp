#include "core/lifetime/bound_disciplines.hpp"

extern "C" void __lsan_ignore_object(const void* pointer) __attribute__((weak));

namespace memsweep::lifetime {

void LeakDiscipline::unreachable(Block& block) noexcept
{
    floating_.add(block);
    disown(block.data);
}

DisciplineStats LeakDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    floating_.add_to(stats);
    return stats;
}

void disown(const void* memory) noexcept
{
    if (__lsan_ignore_object != nullptr) {
        __lsan_ignore_object(memory);
    }
}

}  // namespace memsweep::lifetime
