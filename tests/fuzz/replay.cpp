// Feeds every file of the given folders to a fuzz target, for builds without libFuzzer.
//
// Errors   exit status 2: no folder given, or one of them holds no file.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::string> files_in(const char* folder)
{
    std::error_code error;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
        files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

void replay(const std::string& path)
{
    std::ifstream file{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv)
{
    for (int i = 1; i < argc; ++i) {
        const auto files = files_in(argv[i]);
        if (files.empty()) {
            std::fprintf(stderr, "%s: no file to replay\n", argv[i]);
            return 2;
        }
        std::for_each(files.begin(), files.end(), replay);
        std::printf("%s: %zu files replayed\n", argv[i], files.size());
    }
    return argc > 1 ? 0 : 2;
}
