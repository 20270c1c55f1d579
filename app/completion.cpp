#include "app/completion.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace memsweep::app {

std::string completion_function(const CommandFacts& tree)
{
    std::string name = "_" + tree.name;
    std::ranges::replace(name, '-', '_');
    return name;
}

std::string completion_source(const CommandFacts& tree, std::string_view shell)
{
    return fmt::format("{} {} {}", tree.name, tree.commands.empty() ? "--completion" : "completion", shell);
}

}  // namespace memsweep::app
