#include "tests/reporters/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

namespace fs = std::filesystem;

fs::path repository()
{
    return MEMSWEEP_SOURCE_DIR;
}

std::string read(const fs::path& path)
{
    std::ifstream file{path, std::ios::binary};
    INFO("cannot read " << path);
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// The line at the first difference, so that a failure does not print two whole files.
std::string line_at_difference(const std::string& text, const std::string& other)
{
    const auto at = std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first;
    const auto offset = static_cast<std::size_t>(at - text.begin());
    const std::size_t start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    return text.substr(start, std::min(text.find('\n', offset), start + 300) - start);
}

}  // namespace

void check_golden(const std::string& name, const std::string& text)
{
    const fs::path path = repository() / "tests" / "golden" / name;
    if (const char* update = std::getenv("MEMSWEEP_UPDATE_GOLDEN"); update != nullptr && std::string{update} == "1") {
        std::ofstream{path, std::ios::binary} << text;
    }
    INFO("missing, or other than " << path << "; MEMSWEEP_UPDATE_GOLDEN=1 writes it");
    const std::string golden = read(path);
    INFO("golden:  " << line_at_difference(golden, text));
    INFO("written: " << line_at_difference(text, golden));
    CHECK((golden == text));
}

std::string repository_file(const std::string& path)
{
    return read(repository() / path);
}

}  // namespace memsweep::reporters
