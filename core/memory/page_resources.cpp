#include "core/memory/page_resources.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {
namespace {

constexpr std::size_t huge_page_bytes = 2U << 20;

bool is_reserved(model::PageKind kind)
{
    return kind == model::PageKind::huge_2m || kind == model::PageKind::huge_1g;
}

std::size_t whole_pages(std::size_t bytes, std::size_t page_bytes)
{
    return round_up(std::max<std::size_t>(bytes, 1), page_bytes);
}

// With thp, what can hold a huge page starts where one can.
std::size_t mapping_alignment(model::PageKind kind, std::size_t mapping, std::size_t alignment, std::size_t page_bytes)
{
    const bool huge = kind == model::PageKind::thp && mapping >= huge_page_bytes;
    return std::max(alignment, huge ? huge_page_bytes : page_bytes);
}

// Refused where huge pages are not built in: then there is none to ask for, nor to forbid.
void advise_huge_pages(void* ptr, std::size_t mapping, model::PageKind kind)
{
    if (kind == model::PageKind::small || kind == model::PageKind::thp) {
        static_cast<void>(::madvise(ptr, mapping, kind == model::PageKind::small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE));
    }
}

// The kernel merges neighbouring mappings, so unmapping can need one mapping more than vm.max_map_count allows. The
// memory still goes back then; only the address range stays taken.
void unmap(void* ptr, std::size_t bytes)
{
    if (bytes != 0 && ::munmap(ptr, bytes) != 0) {
        MEMSWEEP_ASSERT(::madvise(ptr, bytes, MADV_DONTNEED) == 0,
                        "a mapping of ours can be neither unmapped nor emptied");
    }
}

// Maps more than is needed and gives back what lies before and after the aligned part; nullptr: the kernel refuses.
std::byte* map_aligned(std::size_t bytes, std::size_t alignment, std::size_t page_bytes, int protection, int flags)
{
    const std::size_t slack = alignment - page_bytes;
    void* const found = ::mmap(nullptr, bytes + slack, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (found == MAP_FAILED) {
        return nullptr;
    }
    auto* const start = static_cast<std::byte*>(found);
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const std::size_t before = round_up(address, alignment) - address;
    unmap(start, before);
    unmap(start + before + bytes, slack - before);
    return start + before;
}

// A shared mapping of a whole file. Above a page's alignment addresses are reserved first, and the file takes their
// place. nullptr: the kernel has no addresses, or no mappings, left.
void* map_shared(int fd, std::size_t bytes, std::size_t alignment, std::size_t page_bytes)
{
    const bool reserves = alignment > page_bytes;
    std::byte* const at = reserves ? map_aligned(bytes, alignment, page_bytes, PROT_NONE, MAP_NORESERVE) : nullptr;
    if (reserves && at == nullptr) {
        return nullptr;
    }
    void* const ptr = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (reserves ? MAP_FIXED : 0), fd, 0);
    if (ptr != MAP_FAILED) {
        return ptr;
    }
    unmap(at, reserves ? bytes : 0);
    return nullptr;
}

// A mapping of a file of its own: the kernel has merged it with no other and needs none more to remove it.
void unmap_shared(void* ptr, std::size_t mapping)
{
    MEMSWEEP_ASSERT(::munmap(ptr, mapping) == 0, "a mapping of ours cannot be unmapped");
}

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

std::size_t page_bytes_of(model::PageKind kind) noexcept
{
    return !is_reserved(kind) ? sys::page_size() : std::size_t{1} << (kind == model::PageKind::huge_2m ? 21U : 30U);
}

PageResource::PageResource(model::PageKind kind) noexcept : kind_{kind}, page_bytes_{page_bytes_of(kind)} {}

// Reserved huge pages are taken from the reserve here, so that a touch finds them.
Allocation PageResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t mapping = whole_pages(bytes, page_bytes_);
    const int flags = is_reserved(kind_) ? MAP_HUGETLB | (std::countr_zero(page_bytes_) << MAP_HUGE_SHIFT) : 0;
    void* const ptr = map_aligned(mapping, mapping_alignment(kind_, mapping, alignment, page_bytes_), page_bytes_,
                                  PROT_READ | PROT_WRITE, flags);
    if (ptr == nullptr) {
        return {nullptr, kind_ == model::PageKind::huge_2m   ? AllocStatus::no_huge_pages_2m
                         : kind_ == model::PageKind::huge_1g ? AllocStatus::no_huge_pages_1g
                                                             : AllocStatus::out_of_memory};
    }
    advise_huge_pages(ptr, mapping, kind_);
    return {ptr, AllocStatus::ok};
}

void PageResource::deallocate(void* ptr, std::size_t bytes, std::size_t /*alignment*/) noexcept
{
    unmap(ptr, whole_pages(bytes, page_bytes_));
}

FencedResource::FencedResource(bool keeps_freed) noexcept : keeps_freed_{keeps_freed}, page_bytes_{sys::page_size()} {}

FencedResource::~FencedResource()
{
    for (const FencedPages& range : kept_) {
        ::munmap(range.start, range.bytes);
    }
}

Allocation FencedResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment) || alignment > page_bytes_) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t body = whole_pages(bytes, page_bytes_);
    void* const start = ::mmap(nullptr, body + page_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    auto* const fence = static_cast<std::byte*>(start) + body;
    if (::mprotect(fence, page_bytes_, PROT_NONE) != 0) {
        ::munmap(start, body + page_bytes_);
        return {nullptr, AllocStatus::out_of_memory};
    }
    return {fence - round_up(bytes, alignment), AllocStatus::ok};
}

FencedResource::FencedPages FencedResource::range_of(void* ptr, std::size_t bytes) const noexcept
{
    const auto address = reinterpret_cast<std::uintptr_t>(ptr);
    const std::uintptr_t last = address + std::max<std::size_t>(bytes, 1) - 1;
    const std::uintptr_t start = bytes == 0 ? address - page_bytes_ : address & ~(std::uintptr_t{page_bytes_} - 1);
    const std::uintptr_t end = bytes == 0 ? address : (last | (page_bytes_ - 1)) + 1;
    return {reinterpret_cast<void*>(start), end - start + page_bytes_};  // NOLINT(performance-no-int-to-ptr)
}

void FencedResource::deallocate(void* ptr, std::size_t bytes, std::size_t /*alignment*/) noexcept
{
    const FencedPages range = range_of(ptr, bytes);
    if (!keeps_freed_) {
        MEMSWEEP_ASSERT(::munmap(range.start, range.bytes) == 0, "a mapping of ours can be unmapped");
        return;
    }
    const bool closed =
        ::madvise(range.start, range.bytes, MADV_DONTNEED) == 0 && ::mprotect(range.start, range.bytes, PROT_NONE) == 0;
    MEMSWEEP_ASSERT(closed, "a mapping of ours can be emptied and closed");
    const std::lock_guard lock{mutex_};
    kept_.push_back(range);
    if (kept_.size() > kept_ranges) {
        ::munmap(kept_.front().start, kept_.front().bytes);
        kept_.pop_front();
    }
}

SharedResource::SharedResource(model::PageKind kind) noexcept : kind_{kind}, page_bytes_{sys::page_size()} {}

Allocation SharedResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t mapping = whole_pages(bytes, page_bytes_);
    const sys::UniqueFd fd{::memfd_create("memsweep-array", MFD_CLOEXEC)};
    if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(mapping)) != 0) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    void* const ptr =
        map_shared(fd.get(), mapping, mapping_alignment(kind_, mapping, alignment, page_bytes_), page_bytes_);
    if (ptr == nullptr) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    advise_huge_pages(ptr, mapping, kind_);
    return {ptr, AllocStatus::ok};
}

void SharedResource::deallocate(void* ptr, std::size_t bytes, std::size_t /*alignment*/) noexcept
{
    unmap_shared(ptr, whole_pages(bytes, page_bytes_));
}

FileResource::FileResource(std::string folder) : folder_{std::move(folder)}, page_bytes_{sys::page_size()} {}

Allocation FileResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t mapping = whole_pages(bytes, page_bytes_);
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
    if (fd.valid()) {
        ::flock(fd.get(), LOCK_EX | LOCK_NB);  // until it is unmapped: see sys::remove_left_shared_memory
    }
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
    unmap_shared(ptr, whole_pages(bytes, page_bytes_));
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
