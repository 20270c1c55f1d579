// Exchange of data between two processes: a channel of messages, and a region of memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/assert.hpp"
#include "core/base/expected.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::sys {

// A socket between two processes that keeps messages apart and can carry a file descriptor along.
//
// Sources  AF_UNIX SOCK_SEQPACKET; descriptors by SCM_RIGHTS, close-on-exec on arrival.
// Cost     a system call each for send and receive, two for a receive with a timeout. A message longer than the
//          socket's buffer (about 200 KiB) is refused by the kernel.
// Memory   allocates nothing on success.
// Errors   worker: the peer has closed (send), or a message does not fit its buffer or carries more than one
//          descriptor. A timeout is no error, nor is a peer that has closed while we receive.
// Threads  one sender and one receiver at a time. send waits while the peer's queue is full.
// Ownership  a sent descriptor stays the sender's; a received one is the receiver's.
struct Message {
    bool timed_out{};        // nothing came in time: `bytes` is empty, the channel still open
    bool closed{};           // the peer has closed, or died: nothing will ever come again
    std::string_view bytes;  // into the buffer given to receive; empty only in the two cases above
    UniqueFd fd;             // valid when a descriptor came along
};

class Channel {
  public:
    // The two connected ends, both close-on-exec; a child gets its end by SpawnOptions::inherit.
    [[nodiscard]] static base::Expected<std::pair<Channel, Channel>> pair();

    // Whether the descriptor is such a socket.
    [[nodiscard]] static bool is_end(int fd) noexcept;

    // Takes over an end, such as a descriptor that this process was started with.
    explicit Channel(UniqueFd end) noexcept : end_{std::move(end)} {}
    explicit Channel(int end) noexcept : end_{end} {}

    // At least one byte: an empty message could not be told from the peer's end.
    [[nodiscard]] base::Expected<void> send(std::string_view bytes, std::optional<int> fd = std::nullopt) noexcept;

    // Waits for the next message; without a timeout, it waits for ever.
    [[nodiscard]] base::Expected<Message> receive(std::span<char> buffer,
                                                  std::optional<std::chrono::nanoseconds> timeout) noexcept;

    // For poll(): readable when receive would not wait.
    [[nodiscard]] int fd() const noexcept { return end_.get(); }

  private:
    UniqueFd end_;
};

// Memory that two processes map: how a worker's records reach the driver without either calling the other.
//
// Units    bytes.
// Sources  memfd_create, MAP_SHARED; zero-filled. Its size is sealed, so that no peer can shrink it under a reader,
//          which would be a SIGBUS.
// Memory   touched pages count in the resident set of every process that touches them.
// Errors   os: memfd_create, ftruncate or mmap refused; invalid_input: an empty region, or a file that is too small.
// Ownership  the region owns its descriptor and its mapping; moving it leaves the memory where it is.
class SharedRegion {
  public:
    // `name` is what /proc/PID/maps shows.
    [[nodiscard]] static base::Expected<SharedRegion> create(std::uint64_t bytes, const std::string& name);

    // Maps all of a region that another process has created; `least_bytes` is what the caller is going to read.
    [[nodiscard]] static base::Expected<SharedRegion> map(UniqueFd fd, std::uint64_t least_bytes = 1);

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    // The region seen as a T at its start; a bug when it is too small for one.
    template <typename T>
    [[nodiscard]] T* data() const noexcept
    {
        static_assert(std::is_standard_layout_v<T>, "two processes must agree on where each member lies");
        MEMSWEEP_ASSERT(sizeof(T) <= size_, "a shared region is smaller than what is read from it");
        return reinterpret_cast<T*>(memory_.data());
    }

  private:
    SharedRegion(UniqueFd fd, Mapping memory, std::uint64_t size) noexcept
        : fd_{std::move(fd)}, memory_{std::move(memory)}, size_{size}
    {
    }

    UniqueFd fd_;
    Mapping memory_;
    std::uint64_t size_{};
};

}  // namespace memsweep::sys
