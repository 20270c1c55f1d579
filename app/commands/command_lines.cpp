#include "app/commands/command_lines.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/console.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/run_session.hpp"
#include "app/commands/shell_syntax.hpp"
#include "app/commands/shipped.hpp"
#include "core/base/command_words.hpp"
#include "core/base/printable.hpp"
#include "core/base/text.hpp"
#include "core/sys/allocator_library.hpp"
#include "scenarios/reader/axes.hpp"
#include "scenarios/reader/fingerprint.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view command_axis = "command";

// An option of hyperfine's that has another word here, or none.
OptionValue told(std::string message, Arity arity = Arity::one)
{
    return {.take = [message = std::move(message)](const std::vector<std::string>&) -> base::Expected<void> {
                return refuse(message);
            },
            .arity = arity};
}

OptionValue export_to(RunCommand& run, std::string format)
{
    return value::any([&run, format = std::move(format)](const std::string& path) {
        run.reports.push_back({format, path});
    });
}

// --ignore-failure, and hyperfine's --ignore-failure=1,2.
OptionValue ignored_failures(CommandLines& lines)
{
    constexpr std::string_view all = "all-non-zero";
    OptionValue value = value::each(
        [&lines, all](const std::string& text) -> base::Expected<void> {
            std::string_view rest = text;
            lines.ignore_failure = lines.ignore_failure || rest == all;
            while (rest != all && !rest.empty()) {
                const std::string code{base::take_until(rest, ',')};
                lines.ignored_codes.push_back(
                    static_cast<std::uint32_t>(MEMSWEEP_TRY(value::whole_number(code, 0, UINT8_MAX))));
            }
            return {};
        },
        Arity::one);
    return value::alone_meaning(std::move(value), std::string{all});
}

void add_hidden(Command& command)
{
    command.hidden_option("--style STYLE", told("how progress is shown is --progress here, and colours are --color"));
    command.hidden_option("--sort ORDER", told("has no counterpart: reports keep the order of the commands"));
    command.hidden_option("-u,--time-unit UNIT", told("has no counterpart: reports choose the unit that suits a value, "
                                                      "and -r csv has all times in seconds"));
    command.hidden_option("--reference CMD", told("is --against CMD here, with the other program behind --"));
    command.hidden_option("--export-asciidoc FILE", told("has no counterpart; --export-markdown has one table"));
    command.hidden_option("--export-orgmode FILE", told("has no counterpart; --export-markdown has one table"));
}

std::string lower_name(std::string name)
{
    for (char& c : name) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '-' ? '_' : c;
    }
    return name;
}

void replace_all(std::string& text, const std::string& what, const std::string& with)
{
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

// {NAME} as hyperfine writes a parameter, by the case's value on its axis.
std::string substituted(std::string text, const CommandLines& lines, const model::Case& one)
{
    const auto put_in = [&](const std::vector<std::string>& given, std::size_t apart) {
        for (std::size_t i = 0; i < given.size(); i += apart) {
            const auto param = std::ranges::find(one.params, lower_name(given[i]), &model::Param::name);
            if (param != one.params.end()) {
                replace_all(text, "{" + given[i] + "}", model::to_text(param->value));
            }
        }
    };
    put_in(lines.lists, 2);
    put_in(lines.scans, 3);
    for (const model::Param& param : one.params) {
        replace_all(text, "${axis." + param.name + "}", model::to_text(param.value));
    }
    return text;
}

std::vector<std::string> script(const std::string& text, bool shell)
{
    return text.empty() ? std::vector<std::string>{}
           : shell      ? std::vector{text}
                        : std::vector<std::string>{"/bin/sh", "-c", text};
}

// How the lines of one program are run: all by a shell if one of them needs one, so that their cases are comparable.
struct Readers {
    bool shell{};
    std::vector<std::vector<std::string>> words;  // of each line
};

base::Expected<Readers> readers_of(const std::vector<std::string>& texts, const RunCommand& run)
{
    const auto needy = std::ranges::find_if(texts, [](const std::string& line) { return !needs_shell(line).empty(); });
    const CommandLines& lines = run.lines;
    if (lines.no_shell && needy != texts.end()) {
        return refuse(fmt::format("\"{}\" needs a shell for \"{}\"; without -N it gets one", base::printable(*needy),
                                  needs_shell(*needy)),
                      "-N");
    }
    Readers readers{.shell = lines.shell_program.empty() && (run.shell || needy != texts.end())};
    for (const std::string& line : texts) {
        std::vector<std::string> words{line};
        if (!lines.shell_program.empty()) {
            words = MEMSWEEP_TRY(base::command_words(lines.shell_program));
            words.insert(words.end(), {"-c", line});
        } else if (!readers.shell) {
            words = MEMSWEEP_TRY(base::command_words(line));
        }
        readers.words.push_back(std::move(words));
    }
    return readers;
}

// Short enough for a case's id, with a sign where it was cut, and unlike the names before it.
std::string case_name(std::string text, std::set<std::string>& taken)
{
    for (char& c : text) {
        c = c == '\n' || c == '\t' || c == '\r' ? ' ' : c;
    }
    text = base::printable(text);
    constexpr std::size_t most = scenarios::max_name_bytes - 6;  // room for a number
    constexpr std::string_view sign = "…";
    if (text.size() > most) {
        std::size_t end = 0;
        while (end < text.size()) {
            const std::size_t length = std::max<std::size_t>(base::utf8_length(std::string_view{text}.substr(end)), 1);
            if (end + length > most - sign.size()) {
                break;
            }
            end += length;
        }
        text.replace(end, std::string::npos, sign);
    }
    std::string name = text;
    for (int number = 2; !taken.insert(name).second; ++number) {
        name = fmt::format("{} ({})", text, number);
    }
    return name;
}

void call(model::Case& one, const std::string& name)
{
    one.params.push_back({std::string{command_axis}, name});
    std::ranges::sort(one.params, {}, &model::Param::name);
}

base::Expected<double> number_in(const std::string& text)
{
    double value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
        return refuse(fmt::format("\"{}\" is no number", text), "-P");
    }
    return value;
}

// The digits behind the point that a number in decimal notation needs: 2 of "0.25", 3 of "25e-4" and "1e-3".
int decimals_of(const std::string& text)
{
    const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
    const std::size_t point = std::min(text.find('.'), mark);
    int exponent = 0;
    const bool is_signed = mark + 1 < text.size() && text[mark + 1] == '+';
    std::from_chars(text.data() + std::min(mark + 1 + is_signed, text.size()), text.data() + text.size(), exponent);
    const int behind_point = static_cast<int>(std::min(mark - std::min(point + 1, mark), text.size()));
    constexpr int most = 15;
    return std::clamp(behind_point - exponent, 0, most);
}

base::Expected<void> take_parameters(RunCommand& run)
{
    CommandLines& lines = run.lines;
    const auto add = [&](const std::string& name, std::string values) -> base::Expected<void> {
        const std::string axis = lower_name(name);
        if (axis == command_axis || std::ranges::count(run.overrides.axes, axis, &value::Pair::first) != 0) {
            return refuse(fmt::format("there is another axis {}", axis), "-L");
        }
        run.overrides.axes.emplace_back(axis, std::move(values));
        return {};
    };
    for (std::size_t i = 0; i + 1 < lines.lists.size(); i += 2) {
        MEMSWEEP_TRY(add(lines.lists[i], scenarios::verbatim_axis_text(lines.lists[i + 1])));
    }
    for (std::size_t i = 0; i + 2 < lines.scans.size(); i += 3) {
        const std::string step = i / 3 < lines.steps.size() ? lines.steps[i / 3] : "1";
        std::string values = MEMSWEEP_TRY(scanned_values(lines.scans[i + 1], lines.scans[i + 2], step));
        MEMSWEEP_TRY(add(lines.scans[i], std::move(values)));
    }
    return {};
}

// Says which parameters change nothing, as when their name is misspelt: all of their cases run the same.
void note_unused_parameters(const RunCommand& run)
{
    const CommandLines& lines = run.lines;
    const auto stands_in = [](const std::string& name, const std::vector<std::string>& texts) {
        return std::ranges::any_of(texts, [&](const std::string& text) {
            return text.find("{" + name + "}") != std::string::npos ||
                   text.find("${axis." + lower_name(name) + "}") != std::string::npos;
        });
    };
    const auto note_unused = [&](const std::vector<std::string>& given, std::size_t apart) {
        for (std::size_t i = 0; i < given.size(); i += apart) {
            const std::string& name = given[i];
            if (!stands_in(name, run.texts) && !stands_in(name, run.words) && !stands_in(name, lines.prepare) &&
                !stands_in(name, lines.conclude) && !stands_in(name, {lines.setup, lines.cleanup})) {
                print_note(fmt::format("{{{}}} stands in no command: its values change nothing", name));
            }
        }
    };
    note_unused(lines.lists, 2);
    note_unused(lines.scans, 3);
}

base::Expected<void> check_steps(const CommandLines& lines)
{
    const std::size_t scans = lines.scans.size() / 3;
    if (lines.steps.size() > scans) {
        return refuse("goes with a -P,--parameter-scan NAME MIN MAX before it", "--parameter-step-size");
    }
    if (!lines.steps.empty() && lines.steps.size() != scans) {
        return refuse(
            fmt::format("{} steps for {} scans: give one for each -P, in their order", lines.steps.size(), scans),
            "--parameter-step-size");
    }
    return {};
}

bool asks_for_programs(const CommandLines& lines)
{
    return !lines.names.empty() || !lines.prepare.empty() || !lines.conclude.empty() || !lines.setup.empty() ||
           !lines.cleanup.empty() || !lines.shell_program.empty() || lines.no_shell || lines.ignore_failure ||
           !lines.ignored_codes.empty() || !lines.lists.empty() || !lines.scans.empty() || lines.min_runs ||
           lines.max_runs;
}

base::Expected<void> check_counts(const CommandLines& lines, std::size_t programs)
{
    if (lines.names.size() > programs) {
        return refuse(fmt::format("{} names for {} commands", lines.names.size(), programs), "--command-name");
    }
    for (const auto& [name, scripts] : {std::pair{"--prepare", &lines.prepare}, {"--conclude", &lines.conclude}}) {
        if (scripts->size() > 1 && scripts->size() != programs) {
            return refuse(fmt::format("one for all commands, or one for each: {} for {}", scripts->size(), programs),
                          name);
        }
    }
    return {};
}

// A program in the place of a scenario.
base::Expected<void> check_is_no_program(const std::string& name)
{
    std::error_code ignored;
    const bool is_there = fs::exists(scenario_path(name), ignored);
    const bool is_file = is_there && !name.ends_with(".json") && fs::is_regular_file(name, ignored) &&
                         name.find('/') != std::string::npos && ::access(name.c_str(), X_OK) == 0;
    if (name == "-" || (is_there && !is_file) ||
        (!is_there && (name.find('/') != std::string::npos || sys::find_program(name).empty()))) {
        return {};
    }
    return refuse(fmt::format("{} is a program, and no scenario; memsweep run -- {} measures it", base::printable(name),
                              base::printable(base::shell_word(name))),
                  "run");
}

// A text as the words of the one program that other options (--against, --leaks) want.
base::Expected<void> take_single(RunCommand& run)
{
    if (run.texts.size() != 1) {
        return refuse("compares two programs: one command line beside it, or give all of them without --against",
                      "--against");
    }
    const std::string text = run.texts.front();
    run.texts.clear();
    run.shell = run.shell || !needs_shell(text).empty() || (!run.against.empty() && !needs_shell(run.against).empty());
    const bool is_script = run.shell || !run.lines.shell_program.empty();
    run.words = is_script ? std::vector{text} : MEMSWEEP_TRY(base::command_words(text));
    return {};
}

// The script behind --, and that of --against, as words of the shell that was named.
base::Expected<void> take_named_shell(RunCommand& run)
{
    if (run.words.size() != 1) {
        return refuse("takes one text behind --, the script: put all of it into quotes", "--shell");
    }
    std::vector<std::string> shell = MEMSWEEP_TRY(base::command_words(std::exchange(run.lines.shell_program, {})));
    shell.emplace_back("-c");
    if (!run.against.empty()) {
        std::vector<std::string> base = shell;
        base.push_back(run.against);
        std::ranges::transform(base, base.begin(), base::shell_word);
        run.against = fmt::format("{}", fmt::join(base, " "));
    }
    shell.push_back(run.words.front());
    run.words = std::move(shell);
    run.shell = false;
    return {};
}

}  // namespace

void add_command_lines(Command& command, RunCommand& run)
{
    CommandLines& lines = run.lines;
    command.group = "Programs, as hyperfine takes them";
    command.option("--command-name,--name NAME", value::texts(lines.names, Arity::each_time),
                   "The program's name in the report; repeat it for several programs (hyperfine's -n)");
    command.option(
        "-p,--prepare CMD", value::texts(lines.prepare, Arity::each_time),
        "A /bin/sh script to run before each repetition, not measured; give one for all programs, or one for each");
    command.option("--conclude CMD", value::texts(lines.conclude, Arity::each_time),
                   "A script to run after each repetition, not measured");
    command.option("--setup CMD", value::text(lines.setup),
                   "A script to run once before the first repetition of each program; programs then run one after "
                   "another, not in turns");
    command.option("--cleanup CMD", value::text(lines.cleanup),
                   "A script to run once after the last repetition of each program");
    command.option("-L,--parameter-list NAME VALUES", value::texts(lines.lists, Arity::pair_each_time),
                   "Run the command with each of these VALUES for {NAME}: -L threads 1,2,4 (repeatable); \\, is a "
                   "comma within one");
    command.option("-P,--parameter-scan NAME MIN MAX", value::texts(lines.scans, Arity::triple_each_time),
                   "Run the command with each number from MIN to MAX for {NAME} (repeatable)");
    command.option("-D,--parameter-step-size STEP", value::texts(lines.steps, Arity::each_time),
                   "Step of the scan (default 1); for several scans one each, in their order");
    command.option("-i,--ignore-failure [=CODES]", ignored_failures(lines),
                   "Any exit code is a success, or each of these, as in --ignore-failure=1,2");
    command.flag("-N", lines.no_shell, "Use no shell; a command line that needs one is refused");
    command.option("-S SHELL", value::text(lines.shell_program),
                   "Run every command line by this shell, such as bash or 'bash --norc'; none: the same as -N");
    command.option("-m,--min-runs N", value::number(lines.min_runs, 1, 100'000), "Least number of repetitions");
    command.option("-M,--max-runs N", value::number(lines.max_runs, 1, 100'000), "Greatest number of repetitions");
    command.option("--export-json FILE", export_to(run, "hyperfine"), "Write the times in hyperfine's JSON format");
    command.option("--export-markdown FILE", export_to(run, "md"), "The same as -r md=FILE");
    command.option("--export-csv FILE", export_to(run, "csv-summary"), "The same as -r csv-summary=FILE");
    add_hidden(command);
}

bool is_command_line(const std::string& text)
{
    std::error_code ignored;
    const bool is_one_word = text.find_first_of(" \t\n") == std::string::npos;
    const bool is_plain = is_one_word && (needs_shell(text).empty() || text.ends_with(".json"));
    return text != "-" && !is_plain && !fs::exists(text, ignored);
}

base::Expected<std::string> scanned_values(const std::string& min, const std::string& max, const std::string& step)
{
    const double from = MEMSWEEP_TRY(number_in(min));
    const double to = MEMSWEEP_TRY(number_in(max));
    const double by = MEMSWEEP_TRY(number_in(step));
    const double count = by > 0 ? std::floor((to - from) / by + 1e-9) : -1;
    if (count < 0 || count >= static_cast<double>(scenarios::max_axis_values)) {
        return refuse(fmt::format("from {} to {} in steps of {} is no list of up to {} numbers", min, max, step,
                                  scenarios::max_axis_values),
                      "-P");
    }
    const int decimals = std::max(decimals_of(min), decimals_of(step));
    std::string values;
    for (double i = 0; i <= count; ++i) {
        values += fmt::format("{}{:.{}f}", values.empty() ? "" : ",", from + i * by, decimals);
    }
    return values;
}

base::Expected<void> take_command_lines(RunCommand& run)
{
    CommandLines& lines = run.lines;
    const bool has_lines = std::ranges::any_of(run.scenarios, is_command_line);
    if (run.words.empty() && (has_lines || asks_for_programs(lines))) {
        for (const std::string& one : run.scenarios) {
            std::error_code ignored;
            if (one == "-" || (one.ends_with(".json") && fs::exists(one, ignored))) {
                return refuse(fmt::format("{} is a scenario, and what stands beside it is for programs: one run is of "
                                          "scenarios or of programs",
                                          one),
                              "run");
            }
        }
        run.texts = std::exchange(run.scenarios, {});
    }
    for (const std::string& one : run.scenarios) {
        MEMSWEEP_TRY(check_is_no_program(one));
    }
    if (run.texts.empty() && run.words.empty()) {
        return asks_for_programs(lines) ? refuse("is for programs: memsweep run OPTIONS 'CMD ARGS'", "run")
                                        : base::Expected<void>{};
    }
    MEMSWEEP_TRY(check_steps(lines));
    MEMSWEEP_TRY(take_parameters(run));
    if (lines.shell_program == "none") {
        lines.no_shell = true;
        lines.shell_program.clear();
    } else if (lines.shell_program == "default") {
        lines.shell_program.clear();
        run.shell = true;
    }
    if (lines.no_shell && (run.shell || !lines.shell_program.empty())) {
        return refuse("is the opposite of --shell", "-N");
    }
    if (!run.texts.empty() && (!run.against.empty() || !run.leaks.empty())) {
        MEMSWEEP_TRY(take_single(run));
    }
    if (!run.against.empty() &&
        (!lines.setup.empty() || !lines.cleanup.empty() || !lines.lists.empty() || !lines.scans.empty())) {
        return refuse("both programs take turns, without --setup, --cleanup and parameters; --prepare and --conclude "
                      "run around each repetition",
                      "--against");
    }
    if (!lines.names.empty() && (!run.against.empty() || !run.leaks.empty())) {
        return refuse(run.leaks.empty() ? "the two programs are called base and candidate here"
                                        : "names the cases of a report, and --leaks has none",
                      "--command-name");
    }
    MEMSWEEP_TRY(check_counts(lines, std::max<std::size_t>(run.texts.size(), 1)));
    if (!lines.shell_program.empty() && run.texts.empty()) {
        MEMSWEEP_TRY(take_named_shell(run));
    }
    if (lines.min_runs && lines.max_runs && *lines.min_runs > *lines.max_runs) {
        return refuse(fmt::format("{} is more than --max-runs {}", *lines.min_runs, *lines.max_runs), "--min-runs");
    }
    MEMSWEEP_TRY(readers_of(run.texts, run));
    note_unused_parameters(run);
    return {};
}

scenarios::Loaded plan_of_commands(const RunCommand& run, const scenarios::Overrides& overrides,
                                   const scenarios::Surroundings& surroundings)
{
    const CommandLines& lines = run.lines;
    const std::string description = fmt::format("{}", fmt::join(run.texts, "; "));
    model::Plan all;
    std::set<std::string> names;
    std::vector<model::Scalar> values;
    for (std::size_t i = 0; i < run.texts.size(); ++i) {
        const std::string& text = run.texts[i];
        const std::string first = text.substr(0, text.find_first_of(" \t\n"));
        scenarios::Loaded loaded = scenarios::command_plan({first}, description, overrides, surroundings);
        if (!loaded) {
            return loaded;
        }
        const std::string name = case_name(i < lines.names.size() ? lines.names[i] : text, names);
        values.emplace_back(name);
        if (i == 0) {
            all = *loaded;
            all.cases.clear();
        } else if (loaded->name != all.name) {
            all.name = "commands";
        }
        std::vector<std::string> texts;
        std::ranges::transform(loaded->cases, std::back_inserter(texts),
                               [&](const model::Case& one) { return substituted(text, lines, one); });
        const auto readers = readers_of(texts, run);
        if (!readers) {
            return tl::unexpected{std::vector<base::Error>{readers.error()}};
        }
        for (std::size_t at = 0; at < texts.size(); ++at) {
            model::Case& one = loaded->cases[at];
            one.command()->shell = readers->shell;
            one.command()->run = readers->words[at];
            one.command()->typed = texts[at];
            if (run.texts.size() > 1 || !lines.names.empty()) {
                call(one, name);
            }
            all.cases.push_back(std::move(one));
        }
    }
    if (run.texts.size() > 1 || !lines.names.empty()) {
        all.axes.push_back({std::string{command_axis}, std::move(values)});
    }
    for (model::Case& one : all.cases) {
        one.scenario = all.name;
        one.id = model::case_id(all.name, one.params);
    }
    scenarios::take_fingerprints(all);
    return all;
}

void put_in_parameters(const CommandLines& lines, model::Plan& plan)
{
    for (model::Case& one : plan.cases) {
        for (std::string& word : one.command()->run) {
            word = substituted(std::move(word), lines, one);
        }
    }
    scenarios::take_fingerprints(plan);
}

void name_the_command(const std::string& given, model::Plan& plan)
{
    std::set<std::string> none;
    const std::string name = case_name(given, none);
    plan.axes.push_back({std::string{command_axis}, {name}});
    for (model::Case& one : plan.cases) {
        call(one, name);
        one.id = model::case_id(plan.name, one.params);
    }
    scenarios::take_fingerprints(plan);
}

void surround(const CommandLines& lines, model::Plan& plan)
{
    const auto script_for = [&](const std::vector<std::string>& scripts, const model::Case& one) -> std::string {
        if (scripts.size() < 2) {
            return scripts.empty() ? "" : substituted(scripts.front(), lines, one);
        }
        const auto axis = std::ranges::find(plan.axes, command_axis, &model::Axis::name);
        const auto param = std::ranges::find(one.params, command_axis, &model::Param::name);
        const auto at = static_cast<std::size_t>(std::ranges::find(axis->values, param->value) - axis->values.begin());
        return substituted(scripts[at], lines, one);
    };
    if (lines.prepare.empty() && lines.conclude.empty() && lines.setup.empty() && lines.cleanup.empty() &&
        !lines.ignore_failure && lines.ignored_codes.empty()) {
        return;
    }
    for (model::Case& one : plan.cases) {
        model::CommandSpec& command = *one.command();
        command.prepare = script(script_for(lines.prepare, one), command.shell);
        command.cleanup = script(script_for(lines.conclude, one), command.shell);
        command.setup = script(substituted(lines.setup, lines, one), command.shell);
        command.teardown = script(substituted(lines.cleanup, lines, one), command.shell);
        command.exit_code = lines.ignore_failure ? model::any_exit_code : command.exit_code;
        command.ignored_codes = lines.ignored_codes;
    }
    if (!lines.setup.empty() || !lines.cleanup.empty()) {
        plan.settings.order = model::Order::sequential;
    }
    scenarios::take_fingerprints(plan);
}

}  // namespace memsweep::app
