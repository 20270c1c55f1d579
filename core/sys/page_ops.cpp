#include "core/sys/page_ops.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // NOLINT(readability-identifier-naming): the kernel's name, missing in older headers
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // NOLINT(readability-identifier-naming): the kernel's name, missing in older headers
#endif

namespace memsweep::sys {
namespace {

struct KernelAdvice {
    int number;
    const char* name;
};

// In the order of Advice.
constexpr std::array<KernelAdvice, 10> kernel_advice{{
    {MADV_NOHUGEPAGE, "madvise(MADV_NOHUGEPAGE)"},
    {MADV_HUGEPAGE, "madvise(MADV_HUGEPAGE)"},
    {MADV_DONTNEED, "madvise(MADV_DONTNEED)"},
    {MADV_FREE, "madvise(MADV_FREE)"},
    {MADV_COLD, "madvise(MADV_COLD)"},
    {MADV_PAGEOUT, "madvise(MADV_PAGEOUT)"},
    {MADV_POPULATE_WRITE, "madvise(MADV_POPULATE_WRITE)"},
    {MADV_POPULATE_READ, "madvise(MADV_POPULATE_READ)"},
    {MADV_WILLNEED, "madvise(MADV_WILLNEED)"},
    {MADV_SEQUENTIAL, "madvise(MADV_SEQUENTIAL)"},
}};

int populate_object(dl_phdr_info* object, std::size_t /*bytes of it*/, void* /*none*/)
{
    const std::uint64_t page = page_size();
    for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD) {
            const std::uint64_t from = (object->dlpi_addr + segment.p_vaddr) / page * page;
            const std::uint64_t to = object->dlpi_addr + segment.p_vaddr + segment.p_filesz;
            // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells where it mapped a segment in numbers
            ::madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_READ);
        }
    }
    return 0;
}

}  // namespace

void populate_program() noexcept
{
    ::dl_iterate_phdr(populate_object, nullptr);
}

std::uint64_t page_size() noexcept
{
    static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

base::Expected<Mapping> Mapping::anonymous(std::uint64_t bytes) noexcept
{
    return map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
}

base::Expected<Mapping> Mapping::shared(std::uint64_t bytes) noexcept
{
    return map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
}

base::Expected<Mapping> Mapping::map(std::uint64_t bytes, int protection, int flags, int fd) noexcept
{
    if (bytes == 0) {
        return base::fail(base::ErrorCode::invalid_input, "a mapping needs at least one byte");
    }
    void* const data = ::mmap(nullptr, bytes, protection, flags, fd, 0);
    if (data == MAP_FAILED) {
        return base::fail(base::os_error("mmap", errno));
    }
    // The kernel has mapped whole pages and thereby shown that rounding up cannot overflow.
    return Mapping{static_cast<std::byte*>(data), (bytes + page_size() - 1) / page_size() * page_size()};
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)}
{
}

Mapping& Mapping::operator=(Mapping&& other) noexcept
{
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Mapping::~Mapping()
{
    if (data_ != nullptr) {
        ::munmap(data_, size_);
    }
}

base::Expected<void> advise(void* ptr, std::uint64_t bytes, Advice advice) noexcept
{
    const KernelAdvice& told = kernel_advice.at(static_cast<std::size_t>(advice));
    if (reinterpret_cast<std::uintptr_t>(ptr) % page_size() != 0) {
        return base::fail(base::ErrorCode::invalid_input, "the memory does not start on a page boundary", told.name);
    }
    if (::madvise(ptr, bytes, told.number) == 0) {
        return {};
    }
    base::Error error = base::os_error(told.name, errno);
    if (errno == EINVAL) {
        error.code = base::ErrorCode::not_supported;
    }
    return base::fail(std::move(error));
}

bool populate(void* ptr, std::uint64_t bytes) noexcept
{
    if (::madvise(ptr, bytes, MADV_POPULATE_WRITE) == 0) {
        return true;
    }
    if (errno != EINVAL) {
        return false;
    }
    touch_pages(ptr, bytes);
    return true;
}

std::uint64_t touch_pages(void* ptr, std::uint64_t bytes) noexcept
{
    const std::uint64_t page = page_size();
    auto* const start = static_cast<std::byte*>(ptr);
    std::uint64_t pages = 0;
    // The first step ends at the next page boundary, all others are whole pages.
    std::uint64_t step = page - reinterpret_cast<std::uintptr_t>(ptr) % page;
    for (std::uint64_t at = 0; at < bytes; at += step, step = page) {
        *static_cast<volatile std::byte*>(start + at) = std::byte{0};
        ++pages;
        if (bytes - at <= step) {
            break;  // before `at` could wrap around
        }
    }
    return pages;
}

base::Expected<std::uint64_t> prefault_machine_memory(std::uint64_t bytes) noexcept
{
    if (bytes == 0) {
        return 0;
    }
    auto mapping = MEMSWEEP_TRY(Mapping::anonymous(bytes));
    return touch_pages(mapping.data(), mapping.size()) * page_size();
}

}  // namespace memsweep::sys
