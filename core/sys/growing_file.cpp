#include "core/sys/growing_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/sys/left_behind.hpp"
#include "core/sys/output_stream.hpp"

namespace memsweep::sys {
namespace {

// A second name for a file, which is to become that of a path in the same folder.
struct SecondName {
    RemovedAtStop at_stop;
    std::string path;
};

// Empty with errno set.
std::optional<SecondName> linked_beside(const std::string& file, const std::string& path)
{
    constexpr int most_tries = 100;
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "./" : path.substr(0, slash + 1);
    remove_left_behind(folder, partial_files);
    for (int i = 0; i < most_tries; ++i) {
        std::string name = folder + new_passing_name(partial_files);
        RemovedAtStop at_stop{name};
        if (::link(file.c_str(), name.c_str()) == 0) {
            return SecondName{std::move(at_stop), std::move(name)};
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<GrowingFile> GrowingFile::create(const std::string& path)
{
    constexpr mode_t for_the_umask = 0666;
    UniqueFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, for_the_umask)};
    if (!file.valid()) {
        return std::nullopt;
    }
    static_cast<void>(hold_passing(file.get()));  // for its second name
    return GrowingFile{path, std::move(file)};
}

int GrowingFile::append(std::string_view content) noexcept
{
    constexpr std::uint64_t at_once = 1U << 20U;
    if (const int problem = write_all(file_.get(), content); problem != 0) {
        const auto end = static_cast<off_t>(bytes_);
        static_cast<void>(::ftruncate(file_.get(), end) == 0 && ::lseek(file_.get(), end, SEEK_SET) == end);
        return problem;
    }
    bytes_ += content.size();
    if (bytes_ - begun_to_flush_ >= at_once) {
        static_cast<void>(::sync_file_range(file_.get(), static_cast<off_t>(begun_to_flush_),
                                            static_cast<off_t>(bytes_ - begun_to_flush_), SYNC_FILE_RANGE_WRITE));
        begun_to_flush_ = bytes_;
    }
    return 0;
}

int GrowingFile::overwrite(std::string_view content) noexcept
{
    const ssize_t put = retry_interrupted([&] { return ::pwrite(file_.get(), content.data(), content.size(), 0); });
    return put == static_cast<ssize_t>(content.size()) ? 0 : put < 0 ? errno : ENOSPC;
}

int GrowingFile::appear_as(const std::string& path)
{
    const auto name = linked_beside(path_, path);
    const bool has_links = name || (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK);
    if (!name && has_links) {
        return errno;
    }
    // EINVAL: a file system that has nothing to flush.
    const bool is_flushed = retry_interrupted([&] { return ::fsync(file_.get()); }) == 0 || errno == EINVAL;
    const int problem = is_flushed && std::rename((name ? name->path : path_).c_str(), path.c_str()) == 0 ? 0 : errno;
    if (problem != 0 && name) {
        ::unlink(name->path.c_str());
    }
    return problem;
}

}  // namespace memsweep::sys
