#include "core/model/machine.hpp"

#include <array>

namespace memsweep::model {

template <>
std::span<const Named<Fitness>> names<Fitness>()
{
    static constexpr std::array<Named<Fitness>, 3> table{{
        {Fitness::ok, "ok", "nothing to do"},
        {Fitness::note, "note", "worth knowing when results are read, or cannot be seen from here"},
        {Fitness::spoils, "spoils", "alone it can move a time by more than 5 % or a working set by more than 2 %"},
    }};
    return table;
}

}  // namespace memsweep::model
