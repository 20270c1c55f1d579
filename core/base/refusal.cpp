#include "core/base/refusal.hpp"

#include <cerrno>
#include <new>
#include <system_error>

namespace memsweep::base {
namespace {

constexpr const char* memory = "memory (limits: ulimit -v, ulimit -d, the control group)";

const char* refused_by(int error) noexcept
{
    switch (error) {
    case ENOMEM:
        return memory;
    case EAGAIN:
        return "a thread or process, or memory for its stack (limits: ulimit -u, ulimit -v, ulimit -d)";
    case EMFILE:
    case ENFILE:
        return "a file descriptor (limit: ulimit -n)";
    case EFBIG:
        return "a file of that size (limit: ulimit -f)";
    case ENOSPC:
    case EDQUOT:
        return "room on the disk";
    default:
        return nullptr;
    }
}

}  // namespace

const char* refused_resource(const std::exception& problem) noexcept
{
    if (dynamic_cast<const std::bad_alloc*>(&problem) != nullptr) {
        return memory;
    }
    const auto* const error = dynamic_cast<const std::system_error*>(&problem);
    return error != nullptr ? refused_by(error->code().value()) : nullptr;
}

}  // namespace memsweep::base
