#include "core/sys/allocator_trim.hpp"

#include <cstddef>

#include <dlfcn.h>
#include <malloc.h>

#include "core/sys/allocator_library.hpp"

namespace memsweep::sys {
namespace {

template <typename Function>
Function* find(const char* name)
{
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

using Mallctl = int(const char* name, void* old_value, std::size_t* old_bytes, void* new_value, std::size_t new_bytes);
using Collect = void(bool force);

constexpr const char* purge_all_arenas = "arena.4096.purge";  // MALLCTL_ARENAS_ALL

}  // namespace

bool trim_allocator() noexcept
{
    if (auto* control = find<Mallctl>("mallctl")) {
        control("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
        return control(purge_all_arenas, nullptr, nullptr, nullptr, 0) == 0;
    }
    if (auto* collect = find<Collect>("mi_collect")) {
        collect(true);
        return true;
    }
    if (auto* release = find<void()>("MallocExtension_ReleaseFreeMemory")) {
        release();
        return true;
    }
    if (is_same_file(serving_library(), c_library())) {
        ::malloc_trim(0);
        return true;
    }
    return false;
}

}  // namespace memsweep::sys
