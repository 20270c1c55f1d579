#include "core/sys/atomic_file.hpp"

#include <cerrno>
#include <ranges>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/quantity.hpp"
#include "core/sys/output_target.hpp"
#include "core/sys/temp_file.hpp"
#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {
namespace {

base::Expected<void> outcome(int error, const std::string& path, std::string_view what = "cannot write")
{
    if (error != 0) {
        return base::fail(io_error(what, error, path));
    }
    return {};
}

// With the rights that a write would have: access() asks for those of the user who started the program.
int check_permission(const OutputTarget& target)
{
    const bool may = !target.existing || ::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) == 0;
    return may ? 0 : errno;
}

// The errno of the first write that failed, or 0.
int write_pieces(const Content& content, const std::function<int(std::string_view)>& write)
{
    int error = 0;
    content([&](std::string_view piece) {
        error = error != 0 ? error : write(piece);
        return error == 0;
    });
    return error;
}

int write_through(const OutputTarget& target, const Content& content)
{
    if (target.descriptor) {
        return write_pieces(content, [&](std::string_view piece) { return write_all(*target.descriptor, piece); });
    }
    const UniqueFd file{retry_interrupted([&] { return ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC); })};
    return file.valid() ? write_pieces(content, [&](std::string_view piece) { return write_all(file.get(), piece); })
                        : errno;
}

int replace(const OutputTarget& target, const Content& content)
{
    if (const int error = check_permission(target); error != 0) {
        return error;
    }
    auto file = TempFile::create_in(target.directory());
    if (!file) {
        return errno;
    }
    int error = target.existing ? file->take_mode_of(*target.existing) : 0;
    error = error != 0 ? error : write_pieces(content, [&](std::string_view piece) { return file->write(piece); });
    return error != 0 ? error : file->commit_as(target.path);
}

// The directories that were missing, made one by one and, unless they are kept, taken away again.
class NewDirectories {
  public:
    NewDirectories() = default;
    NewDirectories(const NewDirectories&) = delete;
    NewDirectories& operator=(const NewDirectories&) = delete;
    ~NewDirectories()
    {
        for (const std::string& directory : made_ | std::views::reverse) {
            ::rmdir(directory.c_str());
        }
    }

    int make(const std::string& directory)
    {
        const int error = make_one(directory);
        const std::size_t slash = directory.rfind('/');
        if (error != ENOENT || slash == std::string::npos || slash == 0) {
            return error;
        }
        const int parent_error = make(directory.substr(0, slash));
        return parent_error != 0 ? parent_error : make_one(directory);  // once: /proc says ENOENT every time
    }

    void keep() { made_.clear(); }

  private:
    int make_one(const std::string& directory)
    {
        constexpr mode_t for_the_umask = 0777;
        if (::mkdir(directory.c_str(), for_the_umask) == 0) {
            made_.push_back(directory);
            return 0;
        }
        if (errno != EEXIST) {
            return errno;
        }
        struct stat found {};
        return ::stat(directory.c_str(), &found) == 0 && S_ISDIR(found.st_mode) ? 0 : ENOTDIR;
    }

    std::vector<std::string> made_;
};

// Nothing can be tried on what is no file; what can be asked is asked.
int check_through(const OutputTarget& target)
{
    if (!target.descriptor) {
        return check_permission(target);
    }
    const int flags = ::fcntl(*target.descriptor, F_GETFL);
    if (flags < 0) {
        return errno;
    }
    return (flags & O_ACCMODE) == O_RDONLY ? EBADF : 0;
}

}  // namespace

base::Expected<void> write_file_atomically(const std::string& path, std::string_view content)
{
    return write_file_atomically(path, [&](const PieceTaker& take) { take(content); });
}

base::Expected<void> write_file_atomically(const std::string& path, const Content& content)
{
    const auto target = find_output_target(path);
    if (!target) {
        return base::fail(target.error());
    }
    return outcome(target->replaceable() ? replace(*target, content) : write_through(*target, content), path);
}

base::Expected<void> check_writable(const std::string& path, std::uint64_t expected_bytes)
{
    const auto target = find_output_target(path);
    if (!target) {
        return base::fail(target.error());
    }
    if (!target->replaceable()) {
        return outcome(check_through(*target), path);
    }
    if (const int error = check_permission(*target); error != 0) {
        return outcome(error, path);
    }
    NewDirectories directories;
    if (const int error = directories.make(target->directory()); error != 0) {
        return outcome(error, path, "cannot make its directory");
    }
    auto file = TempFile::create_in(target->directory());
    if (!file) {
        return outcome(errno, path);
    }
    if (const int error = file->reserve(expected_bytes); error != 0) {
        return outcome(error, path, "cannot reserve " + base::format_size(static_cast<double>(expected_bytes)));
    }
    directories.keep();
    return {};
}

}  // namespace memsweep::sys
