#include "app/cli/manual_page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace memsweep::app {
namespace {

constexpr const char* description = R"(.PP
Scenarios are short JSON files, described in
.BR memsweep\-scenario (5);
memsweep replays them on real memory, in a fresh process per repetition, and
writes a result, described in
.BR memsweep\-result (5).
Data goes to the standard output, everything else to the standard error; a file
named \- is the standard input or output.
.SH OPTIONS
These go with every command.
)";

constexpr const char* environment = R"(.SH ENVIRONMENT
.TP
.B NO_COLOR
set and not empty: no colour, unless
.B \-\-color
asks for it
.TP
.B CLICOLOR_FORCE
set and not 0: colour, also where the output is no terminal
.TP
.B TMPDIR
where a result is saved that cannot be written where it should go
)";

constexpr const char* exit_status = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
a finding: an assertion failed, a metric regressed, or
.B doctor
found what would spoil numbers
.TP
.B 2
wrong usage, unreadable or invalid input, results that cannot be compared or
merged, or output that cannot be written
.TP
.B 3
a case crashed, timed out or ran out of memory; the results of the others are
written
.TP
.B 4
nothing was measured
.TP
.B 5
too few repetitions for a verdict
.TP
.B 70
a bug in memsweep
.TP
.BR 130 ", " 143
interrupted; what was measured is written, and marked
.PP
Of several the first of 130 and 143, 70, 2, 3, 1, 5, 4 is returned.
)";

constexpr const char* closing = R"(.SH FILES
.TP
.I results/
where results go without
.BR \-\-out
.TP
.I ../share/memsweep/
beside the folder of the executable: scenarios, settings and gate files that
come with memsweep.
In a checkout its own are used.
.SH EXAMPLES
.TP
.B memsweep list scenarios
names the catalog.
.TP
.B memsweep run churn
measures a scenario of the catalog, prints a report and writes a result.
.TP
.B memsweep run my.json \-\-baseline base.json
measures, compares and gates with one exit code.
.TP
.B memsweep doctor
says what on this machine would spoil numbers.
.SH SEE ALSO
.BR memsweep\-scenario (5),
.BR memsweep\-result (5)
)";

// On one line: backslashes and dashes as they are.
std::string roff_escaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\n' ? " " : std::string(1, c);
    }
    return out;
}

// Input lines of at most 80 characters, none of which can be taken for a request.
std::string lines(const std::string& text)
{
    constexpr std::size_t longest = 78;
    std::string out;
    std::string line;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string word = roff_escaped(std::string{rest.substr(0, rest.find_first_of(" \n"))});
        const std::size_t taken = rest.find_first_of(" \n");
        rest.remove_prefix(taken == std::string_view::npos ? rest.size() : taken + 1);
        if (!line.empty() && line.size() + 1 + word.size() > longest) {
            out += line + "\n";
            line.clear();
        }
        line += line.empty() ? "" : " ";
        line += line.empty() && (word.starts_with('.') || word.starts_with('\'')) ? "\\&" + word : word;
    }
    return line.empty() ? out : out + line + "\n";
}

std::string bold_names(const std::vector<std::string>& names)
{
    std::vector<std::string> bold;
    for (const std::string& name : names) {
        bold.push_back(fmt::format("\\fB{}\\fR", roff_escaped(name)));
    }
    return fmt::format("{}", fmt::join(bold, ", "));
}

std::string option_entry(const Option& option)
{
    std::string text = ".TP\n" + bold_names(option.names);
    text += option.placeholder.empty() ? "\n" : fmt::format(" \\fI{}\\fR\n", roff_escaped(option.placeholder));
    text += lines(option.help);
    std::string extra;
    if (!option.offered().empty()) {
        extra += fmt::format("One of {}. ", fmt::join(option.offered(), ", "));
    }
    if (!option.value.fallback.empty()) {
        extra += fmt::format("Default: {}. ", option.value.fallback);
    }
    if (!option.variable.empty()) {
        extra += fmt::format("Environment: {}. ", option.variable);
    }
    if (!extra.empty()) {
        text += ".br\n" + lines(extra.substr(0, extra.size() - 1));
    }
    return text;
}

// `called`: the words that it is called by.
std::string synopsis(const Command& command, const std::string& called)
{
    std::string text = fmt::format("\\fB{}\\fR", roff_escaped(called));
    text += command.options.empty() ? "" : " [\\fIoptions\\fR]";
    for (const Option& positional : command.positionals) {
        const std::string name = positional.placeholder.empty() ? positional.names.front() : positional.placeholder;
        const std::string shown =
            fmt::format("\\fI{}\\fR{}", roff_escaped(name), positional.is_repeatable() ? "..." : "");
        text += positional.required ? " " + shown : fmt::format(" [{}]", shown);
    }
    return text;
}

std::string command_section(const Command& command)
{
    std::string text = fmt::format(".SS memsweep {}\n{}\n.PP\n{}.\n", roff_escaped(command.name),
                                   synopsis(command, "memsweep " + command.name), roff_escaped(command.help));
    for (const Option& positional : command.positionals) {
        text += option_entry(positional);
    }
    for (const Option& option : command.options) {
        text += option_entry(option);
    }
    if (!command.footer.empty()) {
        text += ".PP\n" + lines(command.footer);
    }
    return text;
}

}  // namespace

std::string manual_page(const Command& tree, const std::string& version, const std::string& date)
{
    std::string text = fmt::format(".TH MEMSWEEP 1 {} \"memsweep {}\" \"User Commands\"\n", date, version);
    text += ".SH NAME\nmemsweep \\- measure what a memory policy costs\n.SH SYNOPSIS\n";
    for (const Command& command : tree.commands) {
        text +=
            (&command == &tree.commands.front() ? "" : ".br\n") + synopsis(command, "memsweep " + command.name) + "\n";
    }
    text += ".SH DESCRIPTION\n" + lines(tree.help) + description;
    for (const Option& option : tree.options) {
        text += option_entry(option);
    }
    text += ".SH COMMANDS\n";
    for (const Command& command : tree.commands) {
        text += command_section(command);
    }
    text += exit_status;
    text += environment;
    for (const Option& option : tree.options) {
        if (!option.variable.empty()) {
            text += fmt::format(".TP\n.B {}\nas {}\n", option.variable, bold_names(option.names));
        }
    }
    return text + closing;
}

std::string manual_page(const Command& program, const ManualTexts& texts, const std::string& version,
                        const std::string& date)
{
    std::string title = program.name;
    std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
    std::string text = fmt::format(".TH {} 1 {} \"memsweep {}\" \"User Commands\"\n", title, date, version);
    text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n", roff_escaped(program.name),
                        roff_escaped(texts.summary), synopsis(program, texts.called));
    text += ".SH DESCRIPTION\n" + lines(program.help + ".") + texts.description + ".SH OPTIONS\n";
    for (const Option& positional : program.positionals) {
        text += option_entry(positional);
    }
    for (const Option& option : program.options) {
        text += option_entry(option);
    }
    return text + texts.closing;
}

}  // namespace memsweep::app
