#include "core/sys/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_stream.hpp"

namespace memsweep::sys {
namespace {

constexpr int most_links = 40;  // the kernel's own limit

std::string parent_of(const std::string& path)
{
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) {
        return ".";
    }
    return slash == 0 ? "/" : path.substr(0, slash);
}

// Opening /dev/stdout again would start at offset 0 of a redirected file and overwrite what stands there; renaming over
// it would leave the shell's descriptor pointing at the old file. So such names mean the descriptor itself.
std::optional<int> as_descriptor(std::string_view path)
{
    if (path == "-" || path == "/dev/stdout") {
        return STDOUT_FILENO;
    }
    if (path == "/dev/stderr") {
        return STDERR_FILENO;
    }
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (path.starts_with(folder)) {
            const auto number = base::parse_number(path.substr(folder.size()));
            return number && *number <= INT_MAX ? std::optional{static_cast<int>(*number)} : std::nullopt;
        }
    }
    return std::nullopt;
}

base::Error cannot_write(int problem, const std::string& path)
{
    return io_error("cannot write", problem, path);
}

// Whether somebody may have put it there for others: see OutputTarget.
bool may_be_planted(const struct stat& one, const std::string& path)
{
    struct stat folder {};
    return !S_ISDIR(one.st_mode) && one.st_uid != ::geteuid() && ::stat(parent_of(path).c_str(), &folder) == 0 &&
           (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0 &&
           folder.st_uid != one.st_uid;
}

base::Error planted(const struct stat& one, const std::string& found, const std::string& path)
{
    const std::string_view what = S_ISLNK(one.st_mode)    ? "symbolic link"
                                  : S_ISFIFO(one.st_mode) ? "pipe"
                                  : S_ISREG(one.st_mode)  ? "file"
                                                          : "device or socket";
    return {base::ErrorCode::io,
            fmt::format("cannot write: {} is a {} of user {}, in a folder where everybody may put one: remove it, or "
                        "write to a folder of your own",
                        found, what, one.st_uid),
            path};
}

std::string target_of(const std::string& link, std::string_view text)
{
    return text.starts_with('/') ? std::string{text} : parent_of(link) + "/" + std::string{text};
}

// What stands at the end of a path: itself, so that what is said of it and where it leads are of one moment.
struct Standing {
    struct stat facts {};
    std::optional<std::string> leads_to;  // a link
};

base::Expected<std::optional<Standing>> look_at(const std::string& path, const std::string& asked)
{
    const UniqueFd file{::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    Standing found;
    if (!file.valid() || ::fstat(file.get(), &found.facts) != 0) {
        return errno == ENOENT ? base::Expected<std::optional<Standing>>{std::nullopt}
                               : base::fail(cannot_write(errno, asked));
    }
    if (may_be_planted(found.facts, path)) {
        return base::fail(planted(found.facts, path, asked));
    }
    if (S_ISLNK(found.facts.st_mode)) {
        std::array<char, PATH_MAX> text;
        const ssize_t length = ::readlinkat(file.get(), "", text.data(), text.size());
        if (length <= 0) {
            return base::fail(cannot_write(length == 0 ? ENOENT : errno, asked));
        }
        found.leads_to = target_of(path, {text.data(), static_cast<std::size_t>(length)});
    }
    return found;
}

// The folders on the way to what a path names, and those that their links lead over.
base::Expected<void> check_way(const std::string& path, const std::string& asked, int& links)
{
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        const std::string folder = path.substr(0, end);
        struct stat facts {};
        if (path[end - 1] == '/' || ::lstat(folder.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) {
            continue;
        }
        const auto found = MEMSWEEP_TRY(look_at(folder, asked));
        if (!found || !found->leads_to) {
            continue;
        }
        if (++links > most_links) {
            return base::fail(cannot_write(ELOOP, asked));
        }
        MEMSWEEP_TRY(check_way(*found->leads_to + "/", asked, links));
    }
    return {};
}

}  // namespace

bool OutputTarget::replaceable() const noexcept
{
    return !descriptor && (!existing || S_ISREG(existing->st_mode));
}

std::string OutputTarget::directory() const
{
    return parent_of(path);
}

base::Expected<OutputTarget> find_output_target(const std::string& path)
{
    OutputTarget target{path, as_descriptor(path), std::nullopt};
    if (target.descriptor) {
        return target;
    }
    std::optional<Standing> found;
    for (int links = 0;;) {
        MEMSWEEP_TRY(check_way(target.path, path, links));
        found = MEMSWEEP_TRY(look_at(target.path, path));
        if (!found || !found->leads_to) {
            break;
        }
        if (++links > most_links) {
            return base::fail(cannot_write(ELOOP, path));
        }
        target.path = *found->leads_to;
    }
    if (target.path.empty() || target.path.ends_with('/')) {
        return base::fail(cannot_write(target.path.empty() ? ENOENT : EISDIR, path));
    }
    if (found) {
        target.existing = found->facts;
    }
    if (target.existing && S_ISDIR(target.existing->st_mode)) {
        return base::fail(cannot_write(EISDIR, path));
    }
    return target;
}

namespace {

bool is_same(int file, const struct stat& other) noexcept
{
    struct stat facts {};
    return ::fstat(file, &facts) == 0 && facts.st_dev == other.st_dev && facts.st_ino == other.st_ino;
}

// Empty with errno set; ESTALE: something else came to stand there meanwhile.
UniqueFd open_found(const OutputTarget& target, Start start)
{
    if (target.descriptor) {
        return UniqueFd{::fcntl(*target.descriptor, F_DUPFD_CLOEXEC, 0)};
    }
    constexpr mode_t for_the_umask = 0666;
    const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (start == Start::at_its_end ? O_APPEND : 0);
    UniqueFd file = !target.existing ? UniqueFd{::open(target.path.c_str(), flags | O_CREAT | O_EXCL, for_the_umask)}
                    : target.replaceable() ? UniqueFd{::open(target.path.c_str(), flags)}
                                           : open_stream(target.path);
    if (!file.valid() && (target.existing ? errno == ENOENT || errno == ELOOP : errno == EEXIST)) {
        errno = ESTALE;
    } else if (file.valid() && target.existing && !is_same(file.get(), *target.existing)) {
        file.reset();
        errno = ESTALE;
    } else if (file.valid() && target.existing && target.replaceable() && start == Start::anew &&
               ::ftruncate(file.get(), 0) != 0) {
        const int problem = errno;
        file.reset();
        errno = problem;
    }
    return file;
}

}  // namespace

base::Expected<UniqueFd> open_output(const std::string& path, Start start)
{
    constexpr int most_tries = 10;
    UniqueFd file;
    for (int i = 0; i < most_tries; ++i) {
        file = open_found(MEMSWEEP_TRY(find_output_target(path)), start);
        if (file.valid() || errno != ESTALE) {
            break;
        }
    }
    if (!file.valid()) {
        return base::fail(base::os_error("cannot write", errno, path));
    }
    return file;
}

bool is_same_output(const std::string& one, const std::string& other)
{
    const auto first = find_output_target(one);
    const auto second = find_output_target(other);
    if (!first || !second || !first->replaceable() || !second->replaceable() ||
        first->existing.has_value() != second->existing.has_value()) {
        return false;
    }
    if (first->existing) {
        return first->existing->st_dev == second->existing->st_dev &&
               first->existing->st_ino == second->existing->st_ino;
    }
    const auto place = [](const std::string& path) {
        std::error_code ignored;
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
    };
    return place(first->path) == place(second->path);
}

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
    const UniqueFd file = open_found(target, Start::anew);
    return file.valid() ? write_pieces(content, [&](std::string_view piece) { return write_all(file.get(), piece); })
                        : errno;
}

int replace(const OutputTarget& target, const Content& content, Existing existing)
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
    return error != 0 ? error : file->commit_as(target.path, existing);
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

base::Expected<void> write_file_atomically(const std::string& path, const Content& content, Existing existing)
{
    const auto target = MEMSWEEP_TRY(find_output_target(path));
    const bool is_stdout = path == "-";
    return outcome(target.replaceable() ? replace(target, content, existing) : write_through(target, content),
                   is_stdout ? "stdout" : path, is_stdout ? "cannot write to standard output" : "cannot write");
}

base::Expected<void> check_writable(const std::string& path, std::uint64_t expected_bytes)
{
    const auto target = MEMSWEEP_TRY(find_output_target(path));
    if (!target.replaceable()) {
        return outcome(check_through(target), path);
    }
    if (const int error = check_permission(target); error != 0) {
        return outcome(error, path);
    }
    NewDirectories directories;
    if (const int error = directories.make(target.directory()); error != 0) {
        return outcome(error, path, "cannot make its directory");
    }
    auto file = TempFile::create_in(target.directory());
    if (!file) {
        return outcome(errno, path);
    }
    if (const int error = file->reserve(expected_bytes); error != 0) {
        return outcome(error, path, "cannot reserve " + base::format_size(static_cast<double>(expected_bytes)));
    }
    directories.keep();
    return {};
}

int take_mode_of(int file, const struct stat& other) noexcept
{
    constexpr mode_t permissions = 0777;
    // Only root may give files away; the others' file has been theirs before, or becomes theirs.
    static_cast<void>(::fchown(file, other.st_uid, other.st_gid) == 0);
    return ::fchmod(file, other.st_mode & permissions) == 0 ? 0 : errno;
}

TempFile::TempFile(std::string path, RemovedAtStop at_stop, UniqueFd file) noexcept
    : path_{std::move(path)}, at_stop_{std::move(at_stop)}, file_{std::move(file)}
{
}

TempFile::TempFile(TempFile&& other) noexcept
    : path_{std::exchange(other.path_, std::string{})}, at_stop_{std::move(other.at_stop_)},
      file_{std::move(other.file_)}
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
    constexpr int most_tries = 100;
    remove_left_behind(directory, partial_files);
    for (int i = 0; i < most_tries; ++i) {
        std::string path = fmt::format("{}/{}", directory, new_passing_name(partial_files));
        RemovedAtStop at_stop{path};
        constexpr mode_t for_the_umask = 0666;
        UniqueFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, for_the_umask)};
        if (!file.valid() && errno != EEXIST) {
            break;
        }
        if (file.valid() && hold_passing(file.get())) {
            return TempFile{std::move(path), std::move(at_stop), std::move(file)};
        }
    }
    return std::nullopt;
}

int TempFile::take_mode_of(const struct stat& other) noexcept
{
    return sys::take_mode_of(file_.get(), other);
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

int TempFile::commit_as(const std::string& path, Existing existing) noexcept
{
    // EINVAL: a file system that has nothing to flush.
    if (retry_interrupted([&] { return ::fsync(file_.get()); }) != 0 && errno != EINVAL) {
        return errno;
    }
    // It is held until it has its name. Closed by hand: some network file systems report a full disk no earlier.
    const UniqueFd held{::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)};
    if (::close(file_.release()) != 0 && errno != EINTR) {
        return errno;
    }
    if (existing == Existing::replace) {
        if (std::rename(path_.c_str(), path.c_str()) != 0) {
            return errno;
        }
    } else if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
        // EINVAL: a file system that cannot tell; a hard link refuses to replace as well.
        if (errno != EINVAL || ::link(path_.c_str(), path.c_str()) != 0) {
            return errno;
        }
        ::unlink(path_.c_str());
    }
    path_.clear();
    return 0;
}

}  // namespace memsweep::sys
