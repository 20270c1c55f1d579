// Includes the headers of all subjects (kinds of work: steps, programs). Each subject overloads rows_of, class_of,
// provenance_of, is_uncounted, append_details and keep_facts. Include a new subject's headers here.
#pragma once

#include <type_traits>
#include <utility>

#include "core/engine/command/command_report.hpp"
#include "core/engine/steps/step_report.hpp"

namespace memsweep::engine {

// The type of a subject's metric rows. RowOf<Work>::Measured is the type of the measurements of one repetition of this
// subject.
template <typename Work>
using RowOf = std::remove_cv_t<typename decltype(rows_of(std::declval<const Work&>()))::value_type::element_type>;

}  // namespace memsweep::engine
