#include "reporters/text/csv_text.hpp"

#include "reporters/text/number_text.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {

std::string csv_field(std::string_view text)
{
    std::string repaired = repaired_utf8(text);
    if (repaired.find_first_of(",\"\r\n") == std::string::npos) {
        return repaired;
    }
    std::string quoted = "\"";
    for (const char c : repaired) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string csv_number(std::optional<double> value)
{
    return value ? number_text(*value) : std::string{};
}

}  // namespace memsweep::reporters
