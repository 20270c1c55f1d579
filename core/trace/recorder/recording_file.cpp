#include "core/trace/recorder/recording_file.hpp"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "core/trace/format/recording_layout.hpp"
#include "core/trace/recorder/lent_file.hpp"
#include "core/trace/recorder/start_notes.hpp"

namespace memsweep::trace::recorder {
namespace {

// Away from programs that rely on getting the lowest numbers; where it may not be so high, away from the standard ones.
constexpr std::array<int, 2> lowest_descriptors = {512, 3};

constexpr std::array<std::uint8_t, slot_bytes> zero_bytes{};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): outlives a fork
std::array<char, max_path_bytes> program_path;

char* append_number(char* at, std::uint64_t number) noexcept
{
    std::array<char, 20> digits{};
    std::size_t count = 0;
    do {
        digits[count++] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count != 0) {
        *at++ = digits[--count];
    }
    return at;
}

// A file does not grow beyond the limit of the process; trying raises SIGXFSZ in the program.
bool may_reach(std::uint64_t bytes) noexcept
{
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

// So many that the program has nearly all addresses that it may have; from a limit of 4 GiB on, all.
std::uint32_t slots_within_limit() noexcept
{
    constexpr std::uint64_t part = 16;
    rlimit limit{};
    std::uint32_t slots = max_slots;
    if (::getrlimit(RLIMIT_AS, &limit) == 0) {
        while (slots / 4 >= fewest_slots && std::uint64_t{slots} * slot_bytes > limit.rlim_cur / part) {
            slots /= 4;
        }
    }
    return slots;
}

int lifted(long fd) noexcept
{
    for (const int lowest : lowest_descriptors) {
        const long high = kernel(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
        if (high >= 0) {
            kernel(SYS_close, fd);
            return static_cast<int>(high);
        }
    }
    return static_cast<int>(fd);
}

}  // namespace

std::uint32_t own_pid_namespace() noexcept
{
    struct stat found {};
    const long outcome = kernel(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &found, 0);
    return outcome == 0 ? static_cast<std::uint32_t>(found.st_ino) : 0;
}

const char* own_program() noexcept
{
    if (program_path[0] == '\0') {
        kernel(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program_path.data(), program_path.size() - 1);
    }
    return program_path.data();
}

bool make_path(std::array<char, max_path_bytes>& path, const char* folder, std::uint32_t process, unsigned number,
               const char* ending) noexcept
{
    constexpr std::size_t max_name_bytes = 40;
    const std::size_t length = std::strlen(folder);
    if (length + max_name_bytes > path.size()) {
        return false;
    }
    std::memcpy(path.data(), folder, length);
    char* at = path.data() + length;
    *at++ = '/';
    at = append_number(at, process);
    *at++ = '.';
    at = append_number(at, number);
    std::memcpy(at, ending, std::strlen(ending) + 1);
    return true;
}

long KeptFile::create() noexcept
{
    const long fd = open_in_folder(path_.data(), true);
    if (fd < 0) {
        return fd;
    }
    fd_ = lifted(fd);
    return ::fstat(fd_, &identity_) == 0 ? 0 : -errno;
}

long KeptFile::set_size(std::uint64_t bytes) noexcept
{
    return may_reach(bytes) ? kernel(SYS_ftruncate, fd_, bytes) : -EFBIG;
}

void KeptFile::remove() noexcept
{
    if (fd_ >= 0) {
        kernel(SYS_unlinkat, AT_FDCWD, path_.data(), 0);
        kernel(SYS_close, fd_);
        fd_ = -1;
    }
}

bool KeptFile::is_ours() const noexcept
{
    struct stat now {};
    return ::fstat(fd_, &now) == 0 && now.st_ino == identity_.st_ino && now.st_dev == identity_.st_dev;
}

void KeptFile::close() noexcept
{
    if (is_ours()) {
        kernel(SYS_close, fd_);
    }
    fd_ = -1;
}

int KeptFile::usable_fd() noexcept
{
    if (!is_ours()) {
        const long fd = open_in_folder(path_.data(), false);
        if (fd < 0) {
            return static_cast<int>(fd);
        }
        fd_ = lifted(fd);
    }
    return fd_;
}

long KeptFile::reserve(std::uint64_t offset, std::uint64_t bytes) noexcept
{
    const int fd = may_reach(offset + bytes) ? usable_fd() : -EFBIG;
    const long done = fd < 0 ? fd : kernel(SYS_fallocate, fd, 0, offset, bytes);
    if (done != -EOPNOTSUPP && done != -ENOSYS) {
        return done;
    }
    for (std::uint64_t at = 0; at < bytes; at += zero_bytes.size()) {  // nothing is there yet
        const std::uint64_t part = std::min<std::uint64_t>(bytes - at, zero_bytes.size());
        const long written = kernel(SYS_pwrite64, fd, zero_bytes.data(), part, offset + at);
        if (written != static_cast<long>(part)) {
            return written < 0 ? written : -ENOSPC;
        }
    }
    return 0;
}

// A process has several images when it executes programs one after the other.
long RecordingFile::open_new(const char* folder, std::uint32_t process) noexcept
{
    for (unsigned number = 0; number < max_images; ++number) {
        if (!make_path(file_.path(), folder, process, number, recording_ending)) {
            return -ENAMETOOLONG;
        }
        if (const long problem = file_.create(); problem != -EEXIST) {
            return problem;
        }
    }
    return -EEXIST;
}

long RecordingFile::map() noexcept
{
    long problem = 0;
    for (slots_ = slots_within_limit(); slots_ >= fewest_slots; slots_ /= 4) {
        bytes_ = slots_offset + std::size_t{slots_} * slot_bytes;
        problem = file_.set_size(bytes_);
        if (problem < 0) {
            continue;
        }
        const long at = kernel(SYS_mmap, nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.usable_fd(), 0);
        if (at >= 0) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr): what mmap gave
            memory_ = reinterpret_cast<std::uint8_t*>(at);
            // Without this the first touch reads ahead, zeroes of a hole: 4 ms where the disk's read_ahead_kb is 8192,
            // and 2 ms more when the file goes.
            kernel(SYS_madvise, memory_, bytes_, MADV_RANDOM);
            return 0;
        }
        problem = at;
    }
    return problem;
}

void RecordingFile::note_refusal(const char* folder, std::uint32_t process, long problem) noexcept
{
    std::array<char, 21> cause{};
    append_number(cause.data(), static_cast<std::uint64_t>(-problem));
    std::array<char, max_path_bytes> path{};
    long outcome = -EEXIST;
    for (unsigned number = 0; number < max_images && outcome == -EEXIST; ++number) {
        outcome = make_path(path, folder, process, number, refusal_ending)
                      ? kernel(SYS_symlinkat, cause.data(), AT_FDCWD, path.data())
                      : -ENAMETOOLONG;
    }
    if (outcome != 0) {
        note_unrecorded(process);
    }
}

void RecordingFile::let_go() noexcept
{
    if (memory_ != nullptr) {
        kernel(SYS_munmap, memory_, bytes_);
        forget();
    }
}

void RecordingFile::leave(std::uint64_t offset, std::uint64_t bytes) noexcept
{
    std::uint8_t* const kept = memory_ + offset;
    kernel(SYS_mmap, kept, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    kernel(SYS_munmap, memory_, offset);
    if (const std::uint64_t behind = offset + bytes; behind < bytes_) {
        kernel(SYS_munmap, memory_ + behind, bytes_ - behind);
    }
    forget();
}

void RecordingFile::forget() noexcept
{
    file_.close();
    memory_ = nullptr;
}

long RecordingFile::create(const char* folder, std::uint32_t process) noexcept
{
    let_go();
    set_aside_.store(0, std::memory_order_relaxed);
    long problem = open_new(folder, process);
    problem = problem == 0 ? reserve(0, slots_offset) : problem;
    problem = problem == 0 ? map() : problem;
    if (problem != 0) {
        file_.remove();
        note_refusal(folder, process, problem);
    }
    return problem;
}

// Where it cannot be had, the write finds its blocks itself, or says why not.
void RecordingFile::set_aside(int fd, std::uint64_t end) noexcept
{
    constexpr std::uint64_t step = 4U << 20U;
    const std::uint64_t before = std::max<std::uint64_t>(set_aside_.load(std::memory_order_relaxed), bytes_);
    if (end > before) {
        set_aside_.store(std::max(end, before + step), std::memory_order_relaxed);
        kernel(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, before, std::max(end - before, step));
    }
}

long RecordingFile::write(const std::uint8_t* from, std::size_t bytes, std::size_t zeroes,
                          std::uint64_t offset) noexcept
{
    const int fd = may_reach(offset + bytes + zeroes) ? file_.usable_fd() : -EFBIG;
    if (fd < 0) {
        return fd;
    }
    set_aside(fd, offset + bytes + zeroes);
    std::array<iovec, 2> parts{
        {{const_cast<std::uint8_t*>(from), bytes}, {const_cast<std::uint8_t*>(zero_bytes.data()), zeroes}}};
    while (parts[0].iov_len != 0) {  // a hole does for zeroes that were not written
        const long done = kernel(SYS_pwritev, fd, parts.data(), parts.size(), offset, 0L);
        if (done == -EINTR) {
            continue;
        }
        if (done <= 0) {
            return done == 0 ? -ENOSPC : done;
        }
        const auto taken = std::min(static_cast<std::size_t>(done), parts[0].iov_len);
        parts[0].iov_base = static_cast<std::uint8_t*>(parts[0].iov_base) + taken;
        parts[0].iov_len -= taken;
        offset += static_cast<std::uint64_t>(done);
    }
    return 0;
}

}  // namespace memsweep::trace::recorder
