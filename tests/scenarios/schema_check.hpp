// Asks valijson whether a scenario text satisfies the embedded JSON Schema.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::test {

// Empty when it does; else the first errors. Text that is no JSON does not.
[[nodiscard]] std::string schema_errors(std::string_view text);

}  // namespace memsweep::test
