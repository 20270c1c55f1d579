#include "core/memory/resource.hpp"

namespace memsweep::memory {

const char* describe(AllocStatus status) noexcept
{
    switch (status) {
    case AllocStatus::ok:
        return "ok";
    case AllocStatus::out_of_memory:
        return "the system has no memory left for it";
    case AllocStatus::over_limit:
        return "it would exceed the memory limit of the case";
    case AllocStatus::injected:
        return "refused on purpose by the failing adaptor";
    case AllocStatus::bad_request:
        return "no resource can serve such a size, alignment or operand";
    }
    return "unknown status";
}

}  // namespace memsweep::memory
