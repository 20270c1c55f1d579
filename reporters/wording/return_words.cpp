#include "reporters/wording/return_words.hpp"

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::reporters {

std::string untold_text(const measure::ReturnedBytes& figure, std::uint32_t runs)
{
    if (figure.is_told()) {
        return {};
    }
    return figure.spread > figure.replay_error.value_or(0)
               ? fmt::format("its {} replays are {} apart", runs, base::format_size(figure.spread))
               : fmt::format("too small to tell from the replay's own error of {}", base::format_size(figure.error()));
}

std::string unusable_text(const measure::ReplayCheck& check)
{
    return fmt::format("its replay holds {} of heap where the program held {}, and more than {:.0f} % apart says "
                       "nothing of it",
                       base::format_size(check.resident), base::format_size(check.measured + check.never_a_block),
                       measure::ReplayCheck::most_off * 100);
}

}  // namespace memsweep::reporters
