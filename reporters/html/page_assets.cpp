#include "reporters/html/page_assets.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <sha2.h>

// CMake names the files and rebuilds this one when they change.
// NOLINTBEGIN(hicpp-no-assembler): the one way to put a file into a program that both compilers know
#define MEMSWEEP_EMBED(name, path)                                                                                     \
    asm(".pushsection .rodata\n"                                                                                       \
        ".global " #name "\n.global " #name "_end\n" #name ":\n"                                                       \
        ".incbin \"" path "\"\n" #name "_end:\n.byte 0\n"                                                              \
        ".popsection\n")
MEMSWEEP_EMBED(memsweep_chart_library, MEMSWEEP_CHART_LIBRARY);
MEMSWEEP_EMBED(memsweep_page_script, MEMSWEEP_PAGE_SCRIPT);
// NOLINTEND(hicpp-no-assembler)

extern "C" {
extern const char memsweep_chart_library[];      // NOLINT(*-avoid-c-arrays): labels of the assembler
extern const char memsweep_chart_library_end[];  // NOLINT(*-avoid-c-arrays)
extern const char memsweep_page_script[];        // NOLINT(*-avoid-c-arrays)
extern const char memsweep_page_script_end[];    // NOLINT(*-avoid-c-arrays)
}

namespace memsweep::reporters {
namespace {

std::string base64(const std::array<std::uint8_t, SHA256_DIGEST_LENGTH>& bytes)
{
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group = group << 8U | (i < count ? bytes[at + i] : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text += i <= count ? digits[group >> (18U - 6U * i) & 63U] : '=';
        }
    }
    return text;
}

}  // namespace

std::string_view chart_library()
{
    return {memsweep_chart_library, static_cast<std::size_t>(memsweep_chart_library_end - memsweep_chart_library)};
}

std::string_view page_script()
{
    return {memsweep_page_script, static_cast<std::size_t>(memsweep_page_script_end - memsweep_page_script)};
}

std::string script_hash(std::string_view script)
{
    SHA2_CTX context;
    std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
    SHA256Init(&context);
    SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(script.data()), script.size());
    SHA256Final(digest.data(), &context);
    return "sha256-" + base64(digest);
}

}  // namespace memsweep::reporters
