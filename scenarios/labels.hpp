// What a scenario says about itself: format, version, name and description.
//
// Errors   into Diagnostics. These stand as they are written: they hold no placeholders.
#pragma once

#include "core/model/plan.hpp"
#include "scenarios/fields.hpp"

namespace memsweep::scenarios {

// False when the file is something else altogether, of which nothing more is worth saying.
[[nodiscard]] bool check_format(const Fields& top);

// "$schema" and "description" are strings, in a scenario as in an included file.
void check_texts(const Fields& top);

void read_labels(const Fields& top, model::Plan& plan);

}  // namespace memsweep::scenarios
