#include "scenarios/reader/files.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace memsweep::scenarios {
namespace {

class Descriptor {
  public:
    explicit Descriptor(const std::string& path) : owned_{path != "-"}
    {
        fd_ = owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor()
    {
        if (owned_ && fd_ >= 0) {
            ::close(fd_);
        }
    }
    [[nodiscard]] int get() const { return fd_; }

  private:
    bool owned_;
    int fd_{-1};
};

tl::unexpected<base::Error> unreadable(const std::string& path)
{
    base::Error error = base::os_error("cannot read", errno, path);
    error.code = base::ErrorCode::io;
    return base::fail(std::move(error));
}

}  // namespace

base::Expected<std::string> read_text_file(const std::string& path)
{
    const Descriptor file{path};
    if (file.get() < 0) {
        return unreadable(path);
    }
    std::string text;
    std::array<char, 65536> block{};
    while (true) {
        const ssize_t got = ::read(file.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return unreadable(path);
        }
        if (got == 0) {
            return text;
        }
        text.append(block.data(), static_cast<std::size_t>(got));
        if (text.size() > max_file_bytes) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("larger than {} bytes, the limit of a scenario file", max_file_bytes), path);
        }
    }
}

std::optional<std::string> process_environment(const std::string& name)
{
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

}  // namespace memsweep::scenarios
