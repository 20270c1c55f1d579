#include "app/terminal_style.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace memsweep::app {
namespace {

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

int terminal_width()
{
    constexpr int narrowest = 60;
    constexpr int widest = 160;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return 80;
    }
    return std::clamp(static_cast<int>(size.ws_col), narrowest, widest);
}

}  // namespace

reporters::TerminalStyle terminal_style(const GlobalOptions& global)
{
    return {terminal_width(), wants_color(global.color), global.verbose};
}

}  // namespace memsweep::app
