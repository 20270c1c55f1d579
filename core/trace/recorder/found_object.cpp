#include "core/trace/recorder/found_object.hpp"

#include <array>
#include <cstring>

#include <link.h>

#include "core/trace/recorder/loaded_object.hpp"

namespace memsweep::trace::recorder {
namespace {

// As <dlfcn.h> has it from glibc 2.35 on.
struct LinkersAnswer {
    unsigned long long flags{};
    void* map_start{};
    void* map_end{};
    const link_map* map{};
    const std::uint8_t* eh_frame{};
    std::array<unsigned long long, 8> reserved{};
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own it
int (*linkers_find)(void*, LinkersAnswer*);

}  // namespace

void prepare_finding_objects() noexcept
{
    void* const found = LoadedObject::first_definition("_dl_find_object");
    std::memcpy(&linkers_find, &found, sizeof found);
}

bool find_object(std::uint64_t address, FoundObject& found) noexcept
{
    LinkersAnswer answer;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): perhaps an address of code
    if (linkers_find == nullptr || linkers_find(reinterpret_cast<void*>(address), &answer) != 0) {
        return false;
    }
    found = {reinterpret_cast<std::uint64_t>(answer.map_start), reinterpret_cast<std::uint64_t>(answer.map_end),
             answer.map->l_addr, answer.eh_frame, answer.map->l_name};
    return true;
}

}  // namespace memsweep::trace::recorder
