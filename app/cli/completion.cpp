#include "app/cli/completion.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace memsweep::app {

std::string completion_script(const Command& tree, std::string_view shell)
{
    return shell == "bash" ? bash_completion(tree) : shell == "zsh" ? zsh_completion(tree) : fish_completion(tree);
}

std::string completion_function(const Command& tree)
{
    std::string name = "_" + tree.name;
    std::ranges::replace(name, '-', '_');
    return name;
}

std::string completion_source(const Command& tree, std::string_view shell)
{
    return fmt::format("{} {} {}", tree.name, tree.commands.empty() ? "--completion" : "completion", shell);
}

}  // namespace memsweep::app
