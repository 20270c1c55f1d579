#include "core/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace memsweep::base {

void assertion_failed(const char* condition, const char* why, const char* file, int line) noexcept
{
    std::fprintf(stderr, "memsweep: internal error: %s:%d: %s (%s)\n", file, line, why, condition);
    std::abort();
}

}  // namespace memsweep::base
