#include "core/base/expected.hpp"

#include <system_error>

#include <fmt/format.h>

#include "core/base/printable.hpp"

namespace memsweep::base {

std::string describe(const Error& error)
{
    return printable(error.where.empty() ? error.message : fmt::format("{}: {}", error.where, error.message));
}

Error os_error(std::string_view what, int errno_value, std::string_view where)
{
    return Error{ErrorCode::os, fmt::format("{}: {}", what, std::generic_category().message(errno_value)),
                 std::string{where}};
}

}  // namespace memsweep::base
