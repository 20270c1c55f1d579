#include "core/memory/shared_resource.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::memory {
namespace {

constexpr std::size_t huge_page_bytes = 2U << 20;

}  // namespace

SharedResource::SharedResource(model::PageKind kind) noexcept : kind_{kind}, page_bytes_{sys::page_size()} {}

std::size_t SharedResource::mapping_bytes(std::size_t bytes) const noexcept
{
    return round_up(std::max<std::size_t>(bytes, 1), page_bytes_);
}

Allocation SharedResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t mapping = mapping_bytes(bytes);
    const bool huge = kind_ == model::PageKind::thp && mapping >= huge_page_bytes;
    const sys::UniqueFd fd{::memfd_create("memsweep-array", MFD_CLOEXEC)};
    if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(mapping)) != 0) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    void* const ptr =
        map_shared(fd.get(), mapping, std::max(alignment, huge ? huge_page_bytes : page_bytes_), page_bytes_);
    if (ptr == nullptr) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    if (kind_ != model::PageKind::system) {  // refused where huge pages are not built in: then there is none to forbid
        static_cast<void>(::madvise(ptr, mapping, kind_ == model::PageKind::small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE));
    }
    return {ptr, AllocStatus::ok};
}

Allocation SharedResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return allocate(bytes, alignment);
}

void SharedResource::deallocate(void* ptr, std::size_t bytes, std::size_t /*alignment*/) noexcept
{
    // A whole mapping of a file of its own: the kernel has merged it with no other and needs none more to remove it.
    MEMSWEEP_ASSERT(::munmap(ptr, mapping_bytes(bytes)) == 0, "a mapping of ours cannot be unmapped");
}

namespace {

// Of address space without memory behind it: at vm.max_map_count it stays taken, which costs nothing else.
void give_back(void* ptr, std::size_t bytes)
{
    if (bytes != 0) {
        static_cast<void>(::munmap(ptr, bytes));
    }
}

// Addresses without memory behind them; nullptr when there are none left.
std::byte* reserve_aligned(std::size_t bytes, std::size_t alignment, std::size_t page_bytes)
{
    const std::size_t slack = alignment - page_bytes;
    void* const found = ::mmap(nullptr, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) {
        return nullptr;
    }
    auto* const start = static_cast<std::byte*>(found);
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const std::size_t before = round_up(address, alignment) - address;
    give_back(start, before);
    give_back(start + before + bytes, slack - before);
    return start + before;
}

}  // namespace

void* map_shared(int fd, std::size_t bytes, std::size_t alignment, std::size_t page_bytes) noexcept
{
    std::byte* const at = alignment > page_bytes ? reserve_aligned(bytes, alignment, page_bytes) : nullptr;
    if (alignment > page_bytes && at == nullptr) {
        return nullptr;
    }
    void* const ptr = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at == nullptr ? 0 : MAP_FIXED), fd, 0);
    if (ptr != MAP_FAILED) {
        return ptr;
    }
    give_back(at, at == nullptr ? 0 : bytes);
    return nullptr;
}

namespace {

using Name = std::array<char, 64>;

// Where a block is mapped says what it is called, so that nothing has to be remembered.
Name name_of(int pid, const void* ptr)
{
    Name name{};
    static_cast<void>(std::snprintf(name.data(), name.size(), "/memsweep-%d-%p", pid, ptr));
    return name;
}

// A signal may interrupt it.
int reserve(int fd, std::size_t bytes)
{
    int error = 0;
    do {
        error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    } while (error == EINTR);
    return error;
}

AllocStatus status_of(int error, AllocStatus full)
{
    return error == ENOSPC || error == EFBIG || error == EDQUOT ? full : AllocStatus::out_of_memory;
}

}  // namespace

FileResource::FileResource(std::string folder) : folder_{std::move(folder)}, page_bytes_{sys::page_size()} {}

std::size_t FileResource::mapping_bytes(std::size_t bytes) const noexcept
{
    return round_up(std::max<std::size_t>(bytes, 1), page_bytes_);
}

Allocation FileResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t mapping = mapping_bytes(bytes);
    const std::size_t aligned = std::max(alignment, page_bytes_);
    return folder_.empty() ? map_named(mapping, aligned) : map_nameless(mapping, aligned);
}

// The addresses first: they make the name. The file then takes their place.
Allocation FileResource::map_named(std::size_t mapping, std::size_t alignment) noexcept
{
    const sys::UniqueFd nothing{::memfd_create("memsweep-place", MFD_CLOEXEC)};
    void* const place = nothing.valid() ? map_shared(nothing.get(), mapping, alignment, page_bytes_) : nullptr;
    if (place == nullptr) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    const Name name = name_of(::getpid(), place);
    const sys::UniqueFd fd{::shm_open(name.data(), O_CREAT | O_EXCL | O_RDWR, 0600)};
    const int error = fd.valid() ? reserve(fd.get(), mapping) : errno;
    void* const ptr =
        error != 0 ? MAP_FAILED : ::mmap(place, mapping, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd.get(), 0);
    if (ptr == MAP_FAILED) {
        if (fd.valid()) {
            ::shm_unlink(name.data());
        }
        ::munmap(place, mapping);
        return {nullptr, status_of(error, AllocStatus::shm_full)};
    }
    return {ptr, AllocStatus::ok};
}

Allocation FileResource::map_nameless(std::size_t mapping, std::size_t alignment) noexcept
{
    const sys::UniqueFd fd{::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
    if (!fd.valid()) {
        return {nullptr, AllocStatus::disk_full};
    }
    if (const int error = reserve(fd.get(), mapping); error != 0) {
        return {nullptr, status_of(error, AllocStatus::disk_full)};
    }
    void* const ptr = map_shared(fd.get(), mapping, alignment, page_bytes_);
    return ptr == nullptr ? Allocation{nullptr, AllocStatus::out_of_memory} : Allocation{ptr, AllocStatus::ok};
}

void FileResource::deallocate(void* ptr, std::size_t bytes, std::size_t /*alignment*/) noexcept
{
    // The name first: once the addresses are free, another thread may map there and need it.
    if (folder_.empty()) {
        ::shm_unlink(name_of(::getpid(), ptr).data());
    }
    MEMSWEEP_ASSERT(::munmap(ptr, mapping_bytes(bytes)) == 0, "a mapping of ours cannot be unmapped");
}

std::string shared_memory_name(int pid, const void* ptr)
{
    return name_of(pid, ptr).data();
}

std::size_t remove_shared_memory_of(int pid)
{
    const std::string prefix = "memsweep-" + std::to_string(pid) + "-";
    std::size_t removed = 0;
    std::error_code problem;
    for (auto entry = std::filesystem::directory_iterator{"/dev/shm", problem};
         !problem && entry != std::filesystem::directory_iterator{}; entry.increment(problem)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(prefix) && ::shm_unlink(("/" + name).c_str()) == 0) {
            ++removed;
        }
    }
    return removed;
}

}  // namespace memsweep::memory
