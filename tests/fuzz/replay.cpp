// Feeds every file of the given folders to a fuzz target, and then inputs that are mutations of them, for builds
// without libFuzzer. Mutations are the same on every machine: input N of a seed is always that one.
//
// MEMSWEEP_FUZZ_INPUTS   how many mutations [5000]
// MEMSWEEP_FUZZ_SEED     of the mutations [1]
//
// Errors   exit status 2: no folder given, or one of them holds no file. A mutation that ends the process is named on
//          standard error.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using memsweep::base::Rng;

std::uint64_t number_from(const char* name, std::uint64_t otherwise)
{
    const char* const given = std::getenv(name);
    std::uint64_t number = otherwise;
    if (given != nullptr) {
        const std::string_view text{given};
        std::from_chars(text.data(), text.data() + text.size(), number);
    }
    return number;
}

std::vector<std::string> texts_in(const char* folder)
{
    std::error_code error;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
        paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const auto& path : paths) {
        std::ifstream file{path, std::ios::binary};
        texts.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
    }
    return texts;
}

void feed(const std::string& text)
{
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

// A piece of it, mostly a short one.
std::string_view piece_of(std::string_view text, Rng& random)
{
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t longest = random.below(4) == 0 ? text.size() : 16;
    return text.substr(at, random.below(longest + 1));
}

void mutate(std::string& text, std::string_view other, Rng& random)
{
    constexpr std::array<std::string_view, 14> telling{
        "0",  "-1",   "18446744073709551615", "9223372036854775808",          "1e999", "NaN", "", "\"", "{", "]",
        "\n", "\xff", "\xef\xbb\xbf",         std::string_view{"\0\0\0\0", 4}};
    const std::size_t at = random.below(text.size() + 1);
    switch (random.below(6)) {
    case 0:  // a bit turns
        if (at < text.size()) {
            text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << random.below(8)));
        }
        break;
    case 1:  // a byte becomes another one
        if (at < text.size()) {
            text[at] = static_cast<char>(random.below(256));
        }
        break;
    case 2:  // something goes
        text.erase(at, piece_of(text, random).size());
        break;
    case 3:  // something comes twice
        text.insert(at, std::string{piece_of(text, random)});
        break;
    case 4:  // something comes from elsewhere
        text.insert(at, piece_of(other, random));
        break;
    default:
        text.insert(at, telling[random.below(telling.size())]);
    }
}

std::string mutation(const std::vector<std::string>& texts, std::uint64_t seed, std::uint64_t number)
{
    Rng random{seed * 1'000'000'007 + number};
    std::string text = texts[random.below(texts.size())];
    for (std::uint64_t left = 1 + random.below(4); left != 0; --left) {
        mutate(text, texts[random.below(texts.size())], random);
    }
    return text;
}

std::atomic<std::uint64_t> number_now;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): for handlers

void tell_number()
{
    std::fprintf(stderr, "mutation %llu of its seed\n", static_cast<unsigned long long>(number_now.load()));
}

}  // namespace

// AddressSanitizer calls it before it ends the process.
extern "C" void __asan_on_error()  // NOLINT(bugprone-reserved-identifier)
{
    tell_number();
}

int main(int argc, char** argv)
{
    for (const int number : {SIGABRT, SIGSEGV, SIGFPE}) {
        std::signal(number, [](int which) {
            tell_number();
            std::signal(which, SIG_DFL);
            std::raise(which);
        });
    }
    const std::uint64_t inputs = number_from("MEMSWEEP_FUZZ_INPUTS", 5'000);
    const std::uint64_t seed = number_from("MEMSWEEP_FUZZ_SEED", 1);
    for (int i = 1; i < argc; ++i) {
        const auto texts = texts_in(argv[i]);
        if (texts.empty()) {
            std::fprintf(stderr, "%s: no file to replay\n", argv[i]);
            return 2;
        }
        std::for_each(texts.begin(), texts.end(), feed);
        for (std::uint64_t number = 1; number <= inputs; ++number) {
            number_now = number;
            feed(mutation(texts, seed, number));
        }
        std::printf("%s: %zu files and %llu mutations of them\n", argv[i], texts.size(),
                    static_cast<unsigned long long>(inputs));
    }
    return argc > 1 ? 0 : 2;
}
