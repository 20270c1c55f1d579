#include "core/trace/module_table.hpp"

#include <algorithm>
#include <utility>

namespace memsweep::trace {

bool ModuleTable::take(std::vector<std::uint8_t> payload, std::uint32_t process, std::uint64_t& held,
                       std::uint64_t most_held)
{
    payloads_.push_back(std::move(payload));
    ModulesDecoder decoder{payloads_.back()};
    const StackImage image{process, decoder.image()};
    std::vector<LoadedModule>& modules = modules_[image];
    LoadedModule module;
    while (decoder.next(module)) {
        if (++held > most_held) {
            return false;
        }
        // What was said before of the same module is said again when it is gone.
        const auto [place, is_new] =
            places_.try_emplace({image, module.begin, module.first_ticks, module.path}, modules.size());
        if (is_new) {
            modules.push_back(module);
        } else {
            modules[place->second] = module;
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
