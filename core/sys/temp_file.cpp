#include "core/sys/temp_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>

#include <fmt/format.h>

#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {
namespace {

// Takes away SIGXFSZ, which a write beyond RLIMIT_FSIZE sends to the writing thread, for as long as it lives.
class NoFileSizeSignal {
  public:
    NoFileSizeSignal() noexcept
    {
        sigemptyset(&size_limit_);
        sigaddset(&size_limit_, SIGXFSZ);
        ::pthread_sigmask(SIG_BLOCK, &size_limit_, &before_);
    }
    NoFileSizeSignal(const NoFileSizeSignal&) = delete;
    NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;
    ~NoFileSizeSignal()
    {
        constexpr timespec at_once{};
        if (sigismember(&before_, SIGXFSZ) == 0) {
            retry_interrupted([&] { return ::sigtimedwait(&size_limit_, nullptr, &at_once); });
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

  private:
    sigset_t size_limit_{};
    sigset_t before_{};
};

std::uint64_t random_number()
{
    std::uint64_t number{};
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        number = static_cast<std::uint64_t>(::getpid());  // early at boot; a name that is taken is only tried again
    }
    return number;
}

}  // namespace

TempFile::TempFile(std::string path, UniqueFd file) noexcept : path_{std::move(path)}, file_{std::move(file)} {}

TempFile::TempFile(TempFile&& other) noexcept
    : path_{std::exchange(other.path_, std::string{})}, file_{std::move(other.file_)}
{
}

TempFile::~TempFile()
{
    if (!path_.empty()) {
        ::unlink(path_.c_str());
    }
}

std::optional<TempFile> TempFile::create_in(const std::string& directory)
{
    constexpr std::uint64_t most_tries = 100;
    const std::uint64_t number = random_number();
    for (std::uint64_t i = 0; i < most_tries; ++i) {
        std::string path = fmt::format("{}/.memsweep-{:016x}.partial", directory, number + i);
        constexpr mode_t for_the_umask = 0666;
        UniqueFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, for_the_umask)};
        if (file.valid()) {
            return TempFile{std::move(path), std::move(file)};
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return std::nullopt;
}

int TempFile::take_mode_of(const struct stat& other) noexcept
{
    constexpr mode_t permissions = 0777;
    // Only root may give files away; the others' file has been theirs before, or becomes theirs.
    static_cast<void>(::fchown(file_.get(), other.st_uid, other.st_gid) == 0);
    return ::fchmod(file_.get(), other.st_mode & permissions) == 0 ? 0 : errno;
}

int TempFile::write(std::string_view content) noexcept
{
    return write_all(file_.get(), content);
}

int TempFile::reserve(std::uint64_t bytes) noexcept
{
    const NoFileSizeSignal quiet;
    int error = EINTR;
    while (bytes != 0 && error == EINTR) {
        error = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes));
    }
    return bytes == 0 || error == EOPNOTSUPP ? 0 : error;
}

int TempFile::commit_as(const std::string& path) noexcept
{
    // EINVAL: a file system that has nothing to flush.
    if (retry_interrupted([&] { return ::fsync(file_.get()); }) != 0 && errno != EINVAL) {
        return errno;
    }
    // Closed by hand: some network file systems report a full disk no earlier.
    if (::close(file_.release()) != 0 && errno != EINTR) {
        return errno;
    }
    if (std::rename(path_.c_str(), path.c_str()) != 0) {
        return errno;
    }
    path_.clear();
    return 0;
}

int write_all(int fd, std::string_view content) noexcept
{
    const NoFileSizeSignal quiet;
    while (!content.empty()) {
        const ssize_t written = retry_interrupted([&] { return ::write(fd, content.data(), content.size()); });
        if (written < 0) {
            return errno;
        }
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace memsweep::sys
