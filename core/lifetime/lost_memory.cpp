#include "core/lifetime/lost_memory.hpp"

extern "C" void __lsan_ignore_object(const void* pointer) __attribute__((weak));

namespace memsweep::lifetime {

void disown(const void* memory) noexcept
{
    if (__lsan_ignore_object != nullptr) {
        __lsan_ignore_object(memory);
    }
}

}  // namespace memsweep::lifetime
