#include "core/trace/module_table.hpp"

#include <algorithm>
#include <utility>

namespace memsweep::trace {

bool ModuleTable::take(std::vector<std::uint8_t> payload, std::uint32_t process, std::uint64_t& held,
                       std::uint64_t most_held)
{
    payloads_.push_back(std::move(payload));
    ModulesDecoder decoder{payloads_.back()};
    std::vector<LoadedModule>& modules = modules_[{process, decoder.image()}];
    LoadedModule module;
    while (decoder.next(module) && ++held <= most_held) {
        // What was said before of the same module is said again when it is gone.
        const auto same = std::ranges::find_if(modules, [&](const LoadedModule& other) {
            return other.begin == module.begin && other.first_ticks == module.first_ticks && other.path == module.path;
        });
        if (same != modules.end()) {
            *same = module;
        } else {
            modules.push_back(module);
        }
    }
    return !decoder.damaged();
}

const std::vector<LoadedModule>& ModuleTable::of(const StackImage& image) const
{
    static const std::vector<LoadedModule> none;
    const auto found = modules_.find(image);
    return found == modules_.end() ? none : found->second;
}

}  // namespace memsweep::trace
