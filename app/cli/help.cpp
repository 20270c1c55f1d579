#include "app/cli/help.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace memsweep::app {
namespace {

constexpr std::size_t help_column = 30;

// Words on lines of at most `columns`, each line behind `indent` blanks; `column` is where the first one begins.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t column, std::size_t columns)
{
    std::string out;
    bool first = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find_first_of(" \n"));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (word.empty()) {
            continue;
        }
        if (!first && column + 1 + word.size() > columns) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
            first = true;
        }
        out += (first ? "" : " ") + std::string{word};
        column += word.size() + (first ? 0 : 1);
        first = false;
    }
    return out + "\n";
}

std::string entry(const std::string& term, const std::string& help, std::size_t columns)
{
    std::string text = "  " + term;
    if (text.size() + 2 > help_column) {
        text += "\n" + std::string(help_column, ' ');
    } else {
        text.resize(help_column, ' ');
    }
    return text + wrapped(help, help_column, help_column, columns);
}

// The help, and what it does not say yet: the words that can follow, the default, the variable.
std::string explained(const Option& option)
{
    std::string help = option.help;
    const std::vector<std::string>& choices = option.value.choices;
    if (!std::ranges::all_of(choices, [&](const std::string& word) { return help.find(word) != help.npos; })) {
        help += fmt::format(" ({})", fmt::join(choices, ", "));
    }
    if (!option.value.fallback.empty() && !option.required) {
        help += fmt::format(" [{}]", option.value.fallback);
    }
    if (!option.variable.empty()) {
        help += fmt::format(" (environment: {})", option.variable);
    }
    if (option.required) {
        help += " (required)";
    }
    return help;
}

std::string entries(const std::deque<Option>& options, const std::string& group, std::size_t columns)
{
    std::string text;
    for (const Option& option : options) {
        if (option.group == group) {
            const std::string term = fmt::format("{}{}{}", fmt::join(option.names, ","),
                                                 option.placeholder.empty() ? "" : " ", option.placeholder);
            text += entry(term, explained(option), columns);
        }
    }
    return text.empty() ? text : fmt::format("\n{}:\n{}", group.empty() ? "Options" : group, text);
}

std::vector<std::string> groups_of(const std::deque<Option>& options)
{
    std::vector<std::string> groups;
    for (const Option& option : options) {
        if (std::ranges::find(groups, option.group) == groups.end()) {
            groups.push_back(option.group);
        }
    }
    // What every command has comes last.
    std::ranges::stable_partition(groups, [](const std::string& group) { return !group.empty(); });
    return groups;
}

std::string usage(const Command& command, const std::string& called)
{
    std::string text = fmt::format("Usage: {} [OPTIONS]", called);
    for (const Option& positional : command.positionals) {
        const std::string term = fmt::format("{}{}", positional.names.front(), positional.is_repeatable() ? "..." : "");
        text += positional.required ? " " + term : fmt::format(" [{}]", term);
    }
    text += command.behind_dashes ? fmt::format(" [-- {}...]", command.behind_dashes->names.front()) : "";
    return text + (command.commands.empty() ? "" : " [SUBCOMMAND]");
}

// Flowing text; a line that begins with a blank is an example, which stays as it is.
std::string footer_text(std::string_view footer, std::size_t columns)
{
    std::string text;
    std::string paragraph;
    const auto end_paragraph = [&] {
        text += paragraph.empty() ? "" : wrapped(std::exchange(paragraph, ""), 0, 0, columns);
    };
    while (!footer.empty()) {
        const std::string_view line = footer.substr(0, footer.find('\n'));
        footer.remove_prefix(std::min(line.size() + 1, footer.size()));
        if (line.starts_with(' ')) {
            end_paragraph();
            text += std::string{line} + "\n";
        } else {
            paragraph += std::string{line} + " ";
        }
    }
    end_paragraph();
    return text;
}

constexpr const char* manual_description = R"(.PP
Scenarios are short JSON files, described in
.BR memsweep\-scenario (5);
memsweep replays them on real memory, in a fresh process per repetition, and
writes a result, described in
.BR memsweep\-result (5).
Data goes to the standard output, everything else to the standard error; a file
named \- is the standard input or output.
)";

constexpr const char* manual_environment = R"(.SH ENVIRONMENT
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

constexpr const char* manual_exit_status = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
a check failed: an assertion or a limit does not hold, a metric regressed, a
leak was found, a capacity is too small, a trace is damaged, a setting gains but
is not safe, or
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
no verdict: too few repetitions, a budget that ended too early, or a trace that
lacks a part
.TP
.B 70
a bug in memsweep
.TP
.BR 130 ", " 143
interrupted; what was measured is written, and marked
.PP
Of several the first of 130 and 143, 70, 2, 3, 1, 5, 4 is returned.
)";

constexpr const char* manual_closing = R"(.SH FILES
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
std::string roff_lines(const std::string& text)
{
    constexpr std::size_t longest = 78;
    std::string lines = wrapped(roff_escaped(text), 0, 0, longest);
    for (std::size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
        if (lines[at] == '.' || lines[at] == '\'') {
            lines.insert(at, "\\&");
        }
    }
    return lines;
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
    text += roff_lines(option.help);
    std::string extra;
    if (!option.offered().empty()) {
        extra += fmt::format("One of {}. ", fmt::join(option.offered(), ", "));
    }
    if (!option.value.fallback.empty() && !option.required) {
        extra += fmt::format("Default: {}. ", option.value.fallback);
    }
    if (!option.variable.empty()) {
        extra += fmt::format("Environment: {}. ", option.variable);
    }
    if (!extra.empty()) {
        text += ".br\n" + roff_lines(extra.substr(0, extra.size() - 1));
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
    if (command.behind_dashes) {
        text += fmt::format(" [\\-\\- \\fI{}\\fR...]", roff_escaped(command.behind_dashes->placeholder));
    }
    return text;
}

std::string option_entries(const Command& command)
{
    std::string text;
    for (const auto* options : {&command.positionals, &command.options}) {
        for (const Option& option : *options) {
            text += option_entry(option);
        }
        if (options == &command.positionals && command.behind_dashes) {
            text += option_entry(*command.behind_dashes);
        }
    }
    return text;
}

std::string command_section(const Command& command, const std::string& called)
{
    return fmt::format(".SS {}\n{}\n.PP\n{}.\n{}{}", roff_escaped(called), synopsis(command, called),
                       roff_escaped(command.help), option_entries(command),
                       command.footer.empty() ? "" : ".PP\n" + roff_lines(command.footer));
}

}  // namespace

std::string help_text(const Command& command, const Command& root, int columns)
{
    const std::string called = &command == &root ? root.name : fmt::format("{} {}", root.name, command.name);
    const auto width = static_cast<std::size_t>(std::max(columns, 1));
    std::string text = wrapped(command.help, 0, 0, width) + wrapped(usage(command, called), 2, 0, width);
    std::string positionals;
    const auto add_positional = [&](const Option& positional) {
        positionals +=
            entry(fmt::format("{} {}", positional.names.front(), positional.placeholder), explained(positional), width);
    };
    std::ranges::for_each(command.positionals, add_positional);
    if (command.behind_dashes) {
        add_positional(*command.behind_dashes);
    }
    text += positionals.empty() ? "" : "\nPositionals:\n" + positionals;
    for (const std::string& group : groups_of(command.options)) {
        text += entries(command.options, group, width);
    }
    if (!command.commands.empty()) {
        text += "\nSubcommands:\n";
    }
    for (const Command& one : command.commands) {
        text += entry(one.name, one.help, width);
    }
    return command.footer.empty() ? text : text + "\n" + footer_text(command.footer, width);
}

std::string manual_page(const Command& root, const ManualTexts& texts, const std::string& version,
                        const std::string& date)
{
    std::string title = root.name;
    std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
    std::string calls = root.commands.empty() ? synopsis(root, texts.called) + "\n" : "";
    std::string sections;
    for (const Command& command : root.commands) {
        const std::string called = fmt::format("{} {}", texts.called, command.name);
        calls += fmt::format("{}{}\n", calls.empty() ? "" : ".br\n", synopsis(command, called));
        sections += command_section(command, called);
    }
    return fmt::format(".TH {} 1 {} \"memsweep {}\" \"User Commands\"\n", title, date, version) +
           fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}", roff_escaped(root.name), roff_escaped(texts.summary),
                       calls) +
           fmt::format(".SH DESCRIPTION\n{}{}.SH OPTIONS\n",
                       roff_lines(root.help + (root.help.ends_with('.') ? "" : ".")), texts.description) +
           (sections.empty() ? "" : "These go with every command.\n") + option_entries(root) +
           (sections.empty() ? "" : ".SH COMMANDS\n" + sections) + texts.closing;
}

std::string manual_page(const Command& root, const std::string& version, const std::string& date)
{
    std::string variables = manual_environment;
    for (const Option& option : root.options) {
        if (!option.variable.empty()) {
            variables += fmt::format(".TP\n.B {}\nas {}\n", option.variable, bold_names(option.names));
        }
    }
    return manual_page(root,
                       {.summary = "measure what a memory policy costs",
                        .called = root.name,
                        .description = manual_description,
                        .closing = manual_exit_status + variables + manual_closing},
                       version, date);
}

}  // namespace memsweep::app
