// A directory of this test's own, removed with all that is in it; files in it stand for /proc and /sys.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace memsweep::tests {

inline std::string contents(const std::string& path)
{
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

class TempTree {
  public:
    TempTree()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "memsweep-test-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        root_ = pattern + "/";
    }
    TempTree(const TempTree&) = delete;
    TempTree& operator=(const TempTree&) = delete;
    ~TempTree()
    {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }

    // Ends with a slash.
    [[nodiscard]] const std::string& root() const { return root_; }
    [[nodiscard]] std::string path(std::string_view name) const { return root_ + std::string{name}; }

    // The path of a new file, its directories made as needed.
    std::string add(std::string_view name, std::string_view text) const
    {
        const std::filesystem::path file{path(name)};
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file, std::ios::binary} << text;
        return file.string();
    }

    [[nodiscard]] std::size_t entries(std::string_view directory = "") const
    {
        const std::filesystem::directory_iterator all{path(directory)};
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }

  private:
    std::string root_;
};

}  // namespace memsweep::tests
