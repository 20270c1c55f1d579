#ifdef MEMSWEEP_WITH_LIBDW
#include "core/trace/symbols/libdw.hpp"

#include <cstdlib>

#include <dlfcn.h>

#include <fmt/format.h>

namespace memsweep::trace {

base::Expected<Libdw> load_libdw(bool may_fetch)
{
    if (!may_fetch) {
        ::unsetenv("DEBUGINFOD_URLS");  // NOLINT(concurrency-mt-unsafe): no other thread reads the environment
    }
    void* const loaded = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
        return base::fail(base::ErrorCode::not_supported,
                          "names of functions and lines need libdw.so.1, which is not installed (Debian: libdw1)");
    }
    Libdw api;
    const char* missing = nullptr;
#define MEMSWEEP_FIND(function)                                                                                        \
    api.function = reinterpret_cast<decltype(&::function)>(::dlsym(loaded, #function));                                \
    missing = missing == nullptr && api.function == nullptr ? #function : missing;
    MEMSWEEP_LIBDW_FUNCTIONS(MEMSWEEP_FIND)
#undef MEMSWEEP_FIND
    if (missing != nullptr) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("libdw.so.1 is too old to tell functions and lines: it has no {}", missing));
    }
    return api;
}

}  // namespace memsweep::trace
#endif
