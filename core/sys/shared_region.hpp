// Memory that two processes map: how a worker's records reach the driver without either calling the other.
//
// Units    bytes.
// Sources  memfd_create, MAP_SHARED; zero-filled. Its size is sealed, so that no peer can shrink it under a reader,
//          which would be a SIGBUS.
// Memory   touched pages count in the resident set of every process that touches them.
// Errors   os: memfd_create, ftruncate or mmap refused; invalid_input: an empty region, or a file that is too small.
// Ownership  the region owns its descriptor and its mapping; moving it leaves the memory where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/base/assert.hpp"
#include "core/base/expected.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

class SharedRegion {
  public:
    // `name` is what /proc/PID/maps shows.
    [[nodiscard]] static base::Expected<SharedRegion> create(std::uint64_t bytes, const std::string& name);

    // Maps all of a region that another process has created; `least_bytes` is what the caller is going to read.
    [[nodiscard]] static base::Expected<SharedRegion> map(UniqueFd fd, std::uint64_t least_bytes = 1);

    SharedRegion(const SharedRegion&) = delete;
    SharedRegion& operator=(const SharedRegion&) = delete;
    SharedRegion(SharedRegion&& other) noexcept;
    SharedRegion& operator=(SharedRegion&& other) noexcept;
    ~SharedRegion();

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    // The region seen as a T at its start; a bug when it is too small for one.
    template <typename T>
    [[nodiscard]] T* data() const noexcept
    {
        static_assert(std::is_standard_layout_v<T>, "two processes must agree on where each member lies");
        MEMSWEEP_ASSERT(sizeof(T) <= size_, "a shared region is smaller than what is read from it");
        return reinterpret_cast<T*>(data_);
    }

  private:
    SharedRegion(UniqueFd fd, std::byte* data, std::uint64_t size) noexcept;

    UniqueFd fd_;
    std::byte* data_{};
    std::uint64_t size_{};
};

}  // namespace memsweep::sys
