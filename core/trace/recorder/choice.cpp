#include "core/trace/recorder/choice.hpp"

#include <cstdlib>
#include <cstring>

namespace memsweep::trace::recorder {
namespace {

bool takes(const char*& at, const char* word) noexcept
{
    const std::size_t length = std::strlen(word);
    if (std::strncmp(at, word, length) != 0) {
        return false;
    }
    at += length;
    return true;
}

std::uint64_t take_number(const char*& at) noexcept
{
    std::uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        number = number * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return number;
}

}  // namespace

Choice read_choice(std::span<char> folder) noexcept
{
    Choice choice;
    const char* const given = std::getenv(recording_folder_variable);
    if (given == nullptr || std::strlen(given) >= folder.size()) {
        return choice;
    }
    std::memcpy(folder.data(), given, std::strlen(given) + 1);
    choice.on = true;
    const char* options = std::getenv(recording_options_variable);
    while (options != nullptr && *options != '\0') {
        if (takes(options, "min-size=")) {
            choice.min_size = take_number(options);
        } else if (takes(options, "sample=")) {
            choice.sample = take_number(options);
        } else if (takes(options, "only-child-of=")) {
            choice.only_child_of = static_cast<std::uint32_t>(take_number(options));
        } else {
            ++options;
        }
    }
    choice.sample = choice.sample == 0 ? 1 : choice.sample;
    return choice;
}

}  // namespace memsweep::trace::recorder
