#include "core/model/prefetch.hpp"

#include <array>

namespace memsweep::model {

template <>
std::span<const Named<PrefetchHow>> names<PrefetchHow>()
{
    static constexpr std::array<Named<PrefetchHow>, 4> table{{
        {PrefetchHow::none, "none", "nothing is asked for: what the others are measured against"},
        {PrefetchHow::willneed, "willneed",
         "pages of files, of shared memory and of swap are read in the background (MADV_WILLNEED); the first use still "
         "faults"},
        {PrefetchHow::populate_read, "populate_read",
         "every page can be read without a fault (MADV_POPULATE_READ, Linux 5.14); fresh private pages are the shared "
         "zero page until they are written"},
        {PrefetchHow::populate_write, "populate_write",
         "every page is there, to be written without a fault (MADV_POPULATE_WRITE, Linux 5.14)"},
    }};
    return table;
}

}  // namespace memsweep::model
