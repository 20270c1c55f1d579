// The JSON Schemas (draft-07) that `memsweep schema` prints, copied into the binary when it is built.
#pragma once

#include <string_view>

namespace memsweep::scenarios {

[[nodiscard]] std::string_view scenario_schema();
[[nodiscard]] std::string_view result_schema();  // empty in a build whose sources lack it

}  // namespace memsweep::scenarios
