// ${name}, ${axis.NAME}, ${env:NAME:-default} and the reserved words, replaced by their values.
//
// A string that is exactly one placeholder takes the value's type ("${count}" -> 100); inside a longer string the value
// is text. An environment value that is the whole string is read as a JSON scalar if it is one, else as text. There is
// no arithmetic.
// Errors   invalid_input: unknown name (with a suggestion), not a placeholder, a name that cannot stand here. An error
//          without a message means that the value behind the name was already reported as broken.
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

using Variables = std::map<std::string, std::optional<model::Scalar>, std::less<>>;  // empty: reported as broken

using Flags = std::map<std::string, Place, std::less<>>;  // by name: the place of the command line that set its value

// The values of the names at one place of the file.
struct Scope {
    const Surroundings& surroundings;
    const Variables* variables{};                   // null: inside `variables` itself
    const std::vector<model::Param>* axes{};        // the case's; null: outside memory, release and steps
    const std::vector<std::string>* broken_axes{};  // reported already
    const Flags* variable_flags{};                  // null: the command line has set none
    const Flags* axis_flags{};
};

// An error with code invalid_input.
[[nodiscard]] tl::unexpected<base::Error> invalid(std::string message);

[[nodiscard]] bool has_placeholder(std::string_view text);

[[nodiscard]] base::Expected<model::Scalar> substitute(std::string_view text, const Scope& scope);

// The node itself. If it is a string with placeholders, `storage` with its value; its place is then that of the command
// line, if that set the value. Null if that failed; the diagnostics say why.
[[nodiscard]] const SourceNode* resolve(const SourceNode& node, SourceNode& storage, const Scope& scope,
                                        Diagnostics& diagnostics);

// true, 4096, 0.5 and "quoted" as JSON reads them; anything else is text. Never null.
[[nodiscard]] model::Scalar scalar_of_text(std::string_view text);

[[nodiscard]] std::vector<std::string_view> reserved_words();

}  // namespace memsweep::scenarios
