#include "core/sys/shared_region.hpp"

#include <cerrno>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {

SharedRegion::SharedRegion(UniqueFd fd, std::byte* data, std::uint64_t size) noexcept
    : fd_{std::move(fd)}, data_{data}, size_{size}
{
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : fd_{std::move(other.fd_)}, data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)}
{
}

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept
{
    std::swap(fd_, other.fd_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

SharedRegion::~SharedRegion()
{
    if (data_ != nullptr) {
        ::munmap(data_, size_);
    }
}

base::Expected<SharedRegion> SharedRegion::create(std::uint64_t bytes, const std::string& name)
{
    if (bytes == 0 || bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("a shared region cannot have {} bytes", bytes),
                          name);
    }
    UniqueFd fd{::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!fd.valid()) {
        return base::fail(base::os_error("memfd_create", errno, name));
    }
    if (retry_interrupted([&] { return ::ftruncate(fd.get(), static_cast<off_t>(bytes)); }) != 0) {
        return base::fail(base::os_error("ftruncate", errno, name));
    }
    if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        return base::fail(base::os_error("sealing a memfd", errno, name));
    }
    return map(std::move(fd), bytes);
}

base::Expected<SharedRegion> SharedRegion::map(UniqueFd fd, std::uint64_t least_bytes)
{
    struct stat file {};
    if (::fstat(fd.get(), &file) != 0) {
        return base::fail(base::os_error("fstat", errno));
    }
    const auto size = static_cast<std::uint64_t>(file.st_size);
    if (size == 0 || size < least_bytes) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("a shared region has {} bytes, at least {} are needed", size, least_bytes));
    }
    void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (data == MAP_FAILED) {
        return base::fail(base::os_error("mmap", errno));
    }
    return SharedRegion{std::move(fd), static_cast<std::byte*>(data), size};
}

}  // namespace memsweep::sys
