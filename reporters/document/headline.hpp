// What a reader wants to know first: did it run, and did everything hold?
#pragma once

#include <string>

#include "core/measure/findings.hpp"
#include "core/model/report.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct Headline {
    std::string text;  // one or two sentences
    Tone tone{Tone::plain};
};

[[nodiscard]] Headline headline(const model::RunReport& report);

[[nodiscard]] Tone tone_of(measure::Importance importance);

}  // namespace memsweep::reporters
