// The invented CUDA library in a whole program: which devices it has, by the words of MEMSWEEP_INVENTED.
//
//   devices=N     so many (2), of 2 GiB each
//   h100          with the name of such a card in theirs
//   no_peers      none reaches another's memory
//   misdirected   what goes over the link of the first two lands elsewhere
//   corrupting    of each copy over it one word arrives wrong
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/cuda/fake_cudart.hpp"

namespace memsweep::tests::fake_cudart {
namespace {

Devices asked_for()
{
    const Pairs first_two{{0, 1}, {1, 0}};
    Devices devices{.memory_bytes = std::size_t{2} << 30U};
    const char* const asked = std::getenv("MEMSWEEP_INVENTED");
    std::istringstream words{asked == nullptr ? "" : asked};
    for (std::string word; words >> word;) {
        constexpr std::string_view number = "devices=";
        if (word.starts_with(number)) {
            std::from_chars(word.data() + number.size(), word.data() + word.size(), devices.count);
        } else if (word == "h100") {
            devices.name = "invented H100";
        } else if (word == "no_peers") {
            devices.peers = false;
        } else if (word == "misdirected") {
            devices.misdirected = first_two;
        } else if (word == "corrupting") {
            devices.corrupting = first_two;
        } else {
            std::fprintf(stderr, "MEMSWEEP_INVENTED: unknown word %s\n", word.c_str());
            std::abort();
        }
    }
    return devices;
}

[[maybe_unused]] const bool is_set = [] {
    reset(asked_for());
    return true;
}();

}  // namespace
}  // namespace memsweep::tests::fake_cudart
