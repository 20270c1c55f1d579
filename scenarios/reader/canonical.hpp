// The canonical JSON of what a plan measures: keys sorted, every default written out, numbers instead of unit strings.
//
// Two plans with equal canonical forms measure the same. What the rows of the option tables say of it, and the few
// shapes that are no rows (parameters, nested steps, transfers, expressions), are all there is.
#pragma once

#include <span>
#include <string>

#include "core/model/plan.hpp"
#include "scenarios/reader/option_table.hpp"

namespace memsweep::scenarios {

[[nodiscard]] std::string canonical_header(const model::Plan& plan);
[[nodiscard]] std::string canonical_case(const model::Case& plan_case);
[[nodiscard]] std::string canonical_assertion(const model::Assertion& assertion);

// One object by its rows; `plain` is default-constructed, and both have the type that the rows are bound to.
[[nodiscard]] std::string canonical_object(std::span<const OptionInfo> options, const void* object, const void* plain);

template <typename Object>
[[nodiscard]] std::string canonical_object(const OptionTable<Object>& table, const Object& object)
{
    return canonical_object(table.options(), &object, &table.plain());
}

}  // namespace memsweep::scenarios
