#include "core/trace/event.hpp"

#include <array>

namespace memsweep::trace {

std::string_view name_of(EventKind kind)
{
    static constexpr std::array<std::string_view, event_kinds> names{
        "malloc",      "calloc", "aligned_alloc", "realloc",      "free",  "free_requested", "failed_alloc",
        "map",         "unmap",  "external",      "external_end", "copy",  "move",           "thread_start",
        "thread_exit", "fork",   "exec",          "process_exit", "label", "define_space"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(SpaceKind kind)
{
    static constexpr std::array<std::string_view, 5> names{"host", "pinned", "device", "managed", "other"};
    return names.at(static_cast<std::size_t>(kind));
}

}  // namespace memsweep::trace
