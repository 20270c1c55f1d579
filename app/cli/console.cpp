#include "app/cli/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "core/base/printable.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

constexpr std::array<std::pair<std::string_view, ColorMode>, 3> color_modes{
    {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}}};
constexpr std::array<std::pair<std::string_view, ProgressMode>, 5> progress_modes{{{"auto", ProgressMode::automatic},
                                                                                   {"bar", ProgressMode::bar},
                                                                                   {"plain", ProgressMode::plain},
                                                                                   {"json", ProgressMode::json},
                                                                                   {"none", ProgressMode::none}}};

bool is_set(const char* variable)
{
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

bool wants_color(ColorMode mode)
{
    if (mode != ColorMode::automatic) {
        return mode == ColorMode::always;
    }
    if (is_set("NO_COLOR")) {
        return false;
    }
    if (is_set("CLICOLOR_FORCE") && std::string_view{std::getenv("CLICOLOR_FORCE")} != "0") {
        return true;
    }
    const char* term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && (term == nullptr || std::string_view{term} != "dumb");
}

// Logs of CI services read stderr too.
void say(const char* before, std::string_view line)
{
    std::fprintf(stderr, "%s\n", reporters::without_commands(fmt::format("{}{}", before, line)).c_str());
}

void print_lines(const std::vector<base::Error>& errors, const char* before)
{
    std::set<std::string> said;
    for (const base::Error& error : errors) {
        if (const auto [line, is_new] = said.insert(base::describe(error)); is_new) {
            say(before, *line);
        }
    }
}

}  // namespace

void add_global_options(Command& root, GlobalOptions& global)
{
    root.option("--color WHEN", value::choice(global.color, color_modes), "auto, always or never").variable =
        "MEMSWEEP_COLOR";
    root.option("--progress HOW", value::choice(global.progress, progress_modes), "auto, bar, plain, json or none")
        .variable = "MEMSWEEP_PROGRESS";
    root.flag("-q,--quiet", global.quiet, "Neither progress nor the terminal report");
    root.flag("-v,--verbose", global.verbose, "More detail in the terminal report");
}

int terminal_width(int descriptor)
{
    winsize size{};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

reporters::TerminalStyle terminal_style(const GlobalOptions& global)
{
    constexpr int narrowest = 60;
    constexpr int widest = 160;
    return {std::clamp(terminal_width(STDOUT_FILENO), narrowest, widest), wants_color(global.color), global.verbose};
}

void print_error(const base::Error& error)
{
    say("memsweep: error: ", base::describe(error));
}

void print_errors(const std::vector<base::Error>& errors)
{
    print_lines(errors, "memsweep: error: ");
}

void print_places(const std::vector<base::Error>& errors)
{
    print_lines(errors, "");
}

void print_note(std::string_view message)
{
    say("memsweep: ", base::printable(message));
}

ExitCode settled(const base::Expected<ExitCode>& outcome)
{
    if (!outcome) {
        print_error(outcome.error());
    }
    return outcome.value_or(ExitCode::bad_input);
}

ExitCode settled(const base::Expected<void>& outcome)
{
    return settled(outcome.map([] { return ExitCode::done; }));
}

ExitCode stop_code(const sys::StopSignals& signals)
{
    return signals.last() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

bool print_data(std::string_view text)
{
    const int problem = sys::write_all(STDOUT_FILENO, text);
    if (problem != 0 && problem != EPIPE) {
        print_error(sys::io_error("cannot write to standard output", problem, "stdout"));
    }
    return problem == 0;
}

ExitCode print_text(std::string_view text)
{
    return print_data(text) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace memsweep::app
