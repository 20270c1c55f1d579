// The commands of memsweep. add_<command> declares a command's arguments and the function that runs it.
//
// The declarations refer to `global`, which must outlive them.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "app/cli/command_line.hpp"
#include "app/cli/console.hpp"

namespace memsweep::app {

// Makes `execute` the function that runs the command. Returns the arguments that `execute` will get; use them as the
// targets of the command's options. They live as long as the declaration of the command.
template <typename Arguments>
[[nodiscard]] Arguments& arguments_of(Command& command, const GlobalOptions& global,
                                      base::Expected<ExitCode> (*execute)(const Arguments&, const GlobalOptions&))
{
    const auto arguments = std::make_shared<Arguments>();
    command.run = [arguments, execute, &global] { return execute(*arguments, global); };
    return *arguments;
}

void add_run(Command& root, const GlobalOptions& global);
void add_compare(Command& root, const GlobalOptions& global);
void add_report(Command& root, const GlobalOptions& global);
void add_new(Command& root, const GlobalOptions& global);
void add_validate(Command& root, const GlobalOptions& global);
void add_list(Command& root, const GlobalOptions& global);
void add_schema(Command& root, const GlobalOptions& global);
void add_merge(Command& root, const GlobalOptions& global);
void add_doctor(Command& root, const GlobalOptions& global);
void add_info(Command& root, const GlobalOptions& global);
void add_import(Command& root, const GlobalOptions& global);
void add_export(Command& root, const GlobalOptions& global);
void add_fit(Command& root, const GlobalOptions& global);
void add_replay(Command& root, const GlobalOptions& global);
void add_record(Command& root, const GlobalOptions& global);
void add_watch(Command& root, const GlobalOptions& global);
void add_explain(Command& root, const GlobalOptions& global);
void add_whatif(Command& root, const GlobalOptions& global);
void add_advise(Command& root, const GlobalOptions& global);
void add_cliffs(Command& root, const GlobalOptions& global);
void add_probe(Command& root, const GlobalOptions& global);
void add_profile(Command& root, const GlobalOptions& global);
void add_completion(Command& root, const GlobalOptions& global);
void add_help(Command& root, const GlobalOptions& global);
void add_man(Command& root, const GlobalOptions& global);
void add_worker(Command& root, const GlobalOptions& global);
void add_malloc_cost(Command& root, const GlobalOptions& global);

using AddCommand = void (*)(Command& root, const GlobalOptions& global);
// All commands, in the order of --help. The last three are hidden.
inline constexpr std::array<AddCommand, 27> commands{
    add_run,     add_compare,    add_report,  add_new,    add_validate, add_list,       add_schema,
    add_merge,   add_doctor,     add_info,    add_import, add_export,   add_fit,        add_replay,
    add_record,  add_watch,      add_explain, add_whatif, add_advise,   add_cliffs,     add_probe,
    add_profile, add_completion, add_help,    add_man,    add_worker,   add_malloc_cost};

// Declares --version, which stands before any command. The returned function prints the version if it was asked for;
// otherwise it returns nullopt.
[[nodiscard]] std::function<std::optional<ExitCode>()> add_version(Command& root);

}  // namespace memsweep::app
