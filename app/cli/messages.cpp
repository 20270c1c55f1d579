#include <cstdio>

#include "app/cli/messages.hpp"

namespace memsweep::app {

void print_error(const base::Error& error)
{
    std::fprintf(stderr, "memsweep: error: %s\n", base::describe(error).c_str());
}

void print_note(std::string_view message)
{
    std::fprintf(stderr, "memsweep: %.*s\n", static_cast<int>(message.size()), message.data());
}

bool print_data(std::string_view text)
{
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) {
        print_error({base::ErrorCode::io, "cannot write to standard output", "stdout"});
    }
    return written;
}

}  // namespace memsweep::app
