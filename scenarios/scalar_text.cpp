// scalar_of_text: what a value on the command line or in the environment is.
#include <limits>

#include <nlohmann/json.hpp>

#include "scenarios/limits.hpp"
#include "scenarios/substitution.hpp"

namespace memsweep::scenarios {
namespace {

constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

}  // namespace

model::Scalar scalar_of_text(std::string_view text)
{
    const std::string as_text{text};
    if (text.size() > max_text_bytes || text.starts_with('[') || text.starts_with('{')) {
        return as_text;
    }
    const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (json.is_boolean()) {
        return json.get<bool>();
    }
    if (json.is_number_integer()) {  // also true of unsigned ones, whose upper half get<int64_t> would turn negative
        const bool too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > largest;
        return too_large ? model::Scalar{as_text} : model::Scalar{json.get<std::int64_t>()};
    }
    if (json.is_number_float() && text.find_first_of(".eE") != std::string_view::npos) {
        return json.get<double>();
    }
    return json.is_string() ? model::Scalar{json.get<std::string>()} : model::Scalar{as_text};
}

}  // namespace memsweep::scenarios
