// One thing about a machine that numbers measured on it depend on, judged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/metric.hpp"

namespace memsweep::model {

enum class Fitness : std::uint8_t {
    ok,
    note,    // worth knowing when results are read, or cannot be seen from here
    spoils,  // alone it can move a time by more than 5 % or a working set by more than 2 %
};
template <>
std::span<const Named<Fitness>> names<Fitness>();

// What was measured for a check, beside its value in words.
struct Figure {
    std::string name;
    Unit unit{};
    double value{};
};

struct MachineCheck {
    std::string name;  // kebab-case, stable
    Fitness status{Fitness::ok};
    std::string value;    // what was found; empty: it cannot be told here
    std::string why;      // why it matters
    std::string command;  // what changes it, for a shell; empty when there is nothing to change or no command does
    std::vector<Figure> figures{};
};

}  // namespace memsweep::model
