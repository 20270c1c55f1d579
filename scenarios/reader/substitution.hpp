// Replaces the placeholders ${name}, ${axis.NAME}, ${env:NAME:-default} and the reserved words (such as ${ncpus}) by
// their values.
//
// A string that is exactly one placeholder takes the value's type ("${count}" -> 100). Inside a longer string the value
// is text. If the whole string is an environment placeholder, the variable's value is read as a JSON scalar if it has
// the form of one, else as text. There is no arithmetic.
//
// Errors   invalid_input: an unknown name (with a suggestion), a placeholder in a wrong form, or a name that is not
//          allowed here. An error without a message: a mistake in the named value has already been reported.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/scalar.hpp"
#include "scenarios/reader/source_tree.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::scenarios {

// Values by name. nullopt: the variable has a mistake that was reported.
using Variables = std::map<std::string, std::optional<model::Scalar>, std::less<>>;

using Flags = std::map<std::string, Place, std::less<>>;  // by name: the flag that set its value

// The values that names have in one part of the file.
struct Scope {
    const Surroundings& surroundings;
    const Variables* variables{};             // null: variables themselves are being read
    const std::vector<model::Param>* axes{};  // the axes of the case; null: outside memory, release, steps, command
    const std::vector<std::string>* broken_axes{};  // axes with mistakes that were reported
    const Flags* variable_flags{};                  // null: the command line set none
    const Flags* axis_flags{};
};

// Returns an error with code invalid_input.
[[nodiscard]] tl::unexpected<base::Error> invalid(std::string message);

[[nodiscard]] bool has_placeholder(std::string_view text);

[[nodiscard]] base::Expected<model::Scalar> substitute(std::string_view text, const Scope& scope);

// Returns the node itself; if it is a string with placeholders, returns `storage` with the resulting value instead. If
// a flag set the value of the first placeholder, the place in `storage` is this flag. Null: a mistake was reported.
[[nodiscard]] const SourceNode* resolve(const SourceNode& node, SourceNode& storage, const Scope& scope,
                                        Diagnostics& diagnostics);

// Reads true, 4096, 0.5 and "quoted" as JSON does; any other text stays text. The result is never null.
[[nodiscard]] model::Scalar scalar_of_text(std::string_view text);

[[nodiscard]] std::vector<std::string_view> reserved_words();

}  // namespace memsweep::scenarios
