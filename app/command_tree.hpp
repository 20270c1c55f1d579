// The commands and options of the command line as plain values: what completions and the manual page are made from, so
// that neither can say anything else than --help.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace memsweep::app {

enum class Completes { nothing, choices, files, scenarios };

struct OptionFacts {
    std::vector<std::string> names;  // "-o", "--out"; of a positional argument its one name
    std::string value;               // what follows, as --help calls it: "FILE"; empty for a flag
    std::string help;
    std::string fallback;              // default, where --help shows one
    std::string variable;              // of the environment
    std::vector<std::string> choices;  // the words that can follow, or begin what follows
    Completes completes{Completes::nothing};
    bool required{};
    bool repeatable{};
};

struct CommandFacts {
    std::string name;
    std::string help;
    std::string footer;
    std::vector<OptionFacts> positionals;
    std::vector<OptionFacts> options;
    std::vector<CommandFacts> commands;
};

// What --help hides is left out.
[[nodiscard]] CommandFacts describe(const CLI::App& app);

}  // namespace memsweep::app
