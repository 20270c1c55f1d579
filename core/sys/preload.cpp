#include "core/sys/preload.hpp"

#include <string_view>

#include <unistd.h>

#include "core/sys/allocator_library.hpp"

namespace memsweep::sys {

void put_under(const model::AllocatorSpec& allocator, SpawnOptions& spawn)
{
    if (allocator.name.empty()) {
        return;
    }
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const std::string_view name = text.substr(0, text.find('='));
        if (model::sets_an_allocator(name)) {
            spawn.without.emplace_back(name);
        }
    }
    spawn.without.emplace_back("LD_PRELOAD");
    spawn.environment.insert(spawn.environment.end(), allocator.environment.begin(), allocator.environment.end());
    if (!allocator.library.empty()) {
        spawn.environment.emplace_back("LD_PRELOAD", allocator.library);
    }
}

std::string expected_library(const model::AllocatorSpec& allocator)
{
    return allocator.library.empty() ? c_library() : allocator.library;
}

}  // namespace memsweep::sys
