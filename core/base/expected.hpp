// A value, or the Error that explains its absence.
#pragma once

#include <utility>

#include <tl/expected.hpp>

#include "core/base/error.hpp"

namespace memsweep::base {

template <typename T>
using Expected = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error error)
{
    return tl::unexpected<Error>{std::move(error)};
}

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {})
{
    return tl::unexpected<Error>{Error{code, std::move(message), std::move(where)}};
}

}  // namespace memsweep::base
