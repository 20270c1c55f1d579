// A command line as a program declares it: commands, their options, and the conversion of the text after each option.
// Parsing, --help, completions and manual pages all read these declarations.
//
// CLI11 splits the arguments. Only command_line.cpp includes it, because its header takes seconds to compile.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::app {

// The exit codes of the process.
enum class ExitCode : int {
    done = 0,
    finding = 1,      // a failed assertion or a regression
    bad_input = 2,    // wrong usage, bad input, output that cannot be written, results that cannot be compared
    case_failed = 3,  // a case crashed, timed out or ran out of memory
    nothing_measured = 4,
    no_verdict = 5,  // too few repetitions for a verdict
    internal = 70,
    interrupted = 130,  // SIGINT, SIGHUP
    terminated = 143,   // SIGTERM
};

// Returns the worse of two exit codes. The order, worst first: 130, 143, 70, 2, 3, 1, 5, 4, 0.
[[nodiscard]] inline ExitCode worse(ExitCode a, ExitCode b)
{
    static constexpr std::array order{ExitCode::interrupted, ExitCode::terminated,       ExitCode::internal,
                                      ExitCode::bad_input,   ExitCode::case_failed,      ExitCode::finding,
                                      ExitCode::no_verdict,  ExitCode::nothing_measured, ExitCode::done};
    return std::min(std::ranges::find(order, a), std::ranges::find(order, b))[0];
}

// Returns the error for a wrong input or argument. `where` names the file (perhaps with line and column) or the flag.
[[nodiscard]] inline auto refuse(std::string message, std::string where = {})
{
    return base::fail(base::ErrorCode::invalid_input, std::move(message), std::move(where));
}

enum class Arity {
    flag,
    at_most_one,  // "--name" or "--name=text"
    one,
    two,
    each_time,         // one text each time that the option is given; it may be given several times
    pair_each_time,    // two texts each time that the option is given
    triple_each_time,  // three texts each time
    many,              // any number of texts each time, up to the next option
};

// Converts the texts of an option. The functions in option_values.hpp make these objects.
struct OptionValue {
    // Called a single time, with all texts of the option in their order. The error's message says what is wrong with
    // one of the texts.
    std::function<base::Expected<void>(const std::vector<std::string>& texts)> take;
    Arity arity{Arity::one};
    bool commas{};                     // commas separate texts, too
    std::vector<std::string> choices;  // the only texts that are accepted; empty: `take` decides
    std::vector<std::string> words;    // completions offer these instead of `choices`; not checked
    std::string fallback;              // the default that --help shows; empty: it shows none
    std::string alone{};               // for at_most_one: the text that is taken if the option is given without one
    // For at_most_one: says whether the word after the option is the option's text. Asked only if more words follow
    // that word. Null: the next word is never the option's text.
    std::function<bool(std::string_view word)> takes_next{};
    bool may_end_empty{};  // texts after the first may be empty, as a program's arguments may
};

struct Option {
    std::vector<std::string> names;  // "-o", "--out"; a positional argument has one name
    std::string placeholder;         // the name that --help gives the option's text: "FILE"; empty for a flag
    std::string help;
    OptionValue value;
    std::string group;     // the heading above the option in --help; empty: "Options"
    std::string variable;  // the environment variable that is used if the option is not given
    bool required{};
    std::vector<std::string> (*look_up)(){};  // words that completions offer, found when a shell asks for them

    [[nodiscard]] bool is_repeatable() const { return value.arity > Arity::one; }
    [[nodiscard]] const std::vector<std::string>& offered() const
    {
        return value.words.empty() ? value.choices : value.words;
    }
};

struct Command {
    Command(std::string command_name, std::string command_help);

    // Declares an option. `declaration` holds the option's names, a blank and the placeholder, as in "-o,--out FILE" or
    // "trace FILE".
    Option& option(std::string_view declaration, OptionValue value, std::string option_help);
    Option& required_option(std::string_view declaration, OptionValue value, std::string option_help);
    Option& positional(std::string_view declaration, OptionValue value, std::string option_help);  // required
    Option& optional_positional(std::string_view declaration, OptionValue value, std::string option_help);
    // Declares an argument that takes all words after "--" unchanged. The command's positional arguments must then
    // stand before "--".
    void words_behind_dashes(std::string_view declaration, OptionValue value, std::string option_help);
    Option& flag(std::string_view declaration, bool& target, std::string option_help);
    // Declares -f, and --json as another spelling of -f json. `format` holds the default; `value` must set `format`.
    Option& format_option(std::string& format, OptionValue value, std::string option_help);
    // Declares -f and --json for a command whose only formats are text and JSON.
    void text_or_json(bool& as_json, std::string json_help);
    // Declares an option that only the parser knows: no help, completion or manual page shows it.
    Option& hidden_option(std::string_view declaration, OptionValue value);
    Command& command(std::string command_name, std::string command_help);
    Command& hidden_command(std::string command_name);

    std::string name;
    std::string help;
    std::string footer;
    std::string group;  // the heading in --help of all options that are declared from now on
    std::deque<Option> positionals;
    std::optional<Option> behind_dashes;  // the argument that takes the words after "--"; these words may be missing
    std::deque<Option> options;
    std::deque<Option> hidden_options;
    std::deque<Command> commands;
    std::deque<Command> hidden_commands;
    // Called after all options are read. Finds mistakes that concern more than one option. The error's `where` names
    // one of these options.
    std::function<base::Expected<void>()> check;
    std::function<base::Expected<ExitCode>()> run;  // on an error, the caller prints it, and the exit code is bad_input
};

// What the arguments ask for: to run a command, or to print its help.
struct Request {
    const Command* command;  // the program itself, if no command is given
    bool help;
};

// Reads the arguments into the targets of the declarations.
//
// Errors   invalid_input: one line that says what is wrong, and names the most similar command or where to read more.
[[nodiscard]] base::Expected<Request> parse(const Command& root, int argc, const char* const* argv);

}  // namespace memsweep::app
