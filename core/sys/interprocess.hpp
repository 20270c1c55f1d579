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

// A message that Channel::receive() got.
struct Message {
    bool timed_out{};        // no message came in time; the channel is still open
    bool closed{};           // the peer has closed or died; no message will come any more
    std::string_view bytes;  // points into the buffer given to receive(); empty if timed_out or closed
    UniqueFd fd;             // valid if the message carried a descriptor
};

// A channel between two processes: a socket that preserves message boundaries. A message can carry one file descriptor.
//
// Sources  AF_UNIX SOCK_SEQPACKET; descriptors by SCM_RIGHTS. A received descriptor is close-on-exec.
// Cost     send() makes one system call. receive() makes one without a timeout, and two with a timeout. The kernel
//          refuses a message that is longer than the socket's buffer (about 200 KiB).
// Memory   send() and receive() allocate nothing on success.
// Errors   ErrorCode::worker: the peer of a send() has closed; a received message does not fit the buffer; a received
//          message carries more than one descriptor. ErrorCode::invalid_input: an empty message to send. For receive(),
//          neither a timeout nor a closed peer is an error.
// Threads  one sender and one receiver at a time. send() waits while the peer's queue is full.
// Ownership  the sender still owns a descriptor that it has sent; the receiver owns the copy that it gets.
class Channel {
  public:
    // Makes two connected ends, both close-on-exec. A child gets its end by SpawnOptions::inherit.
    [[nodiscard]] static base::Expected<std::pair<Channel, Channel>> pair();

    // Whether the descriptor is an end of a channel.
    [[nodiscard]] static bool is_end(int fd) noexcept;

    // Takes ownership of an end, such as a descriptor that this process inherited.
    explicit Channel(UniqueFd end) noexcept : end_{std::move(end)} {}
    explicit Channel(int end) noexcept : end_{end} {}

    // Sends a message of at least one byte. The receiver could not distinguish an empty message from a closed peer.
    [[nodiscard]] base::Expected<void> send(std::string_view bytes, std::optional<int> fd = std::nullopt) noexcept;

    // Waits for the next message. Without a timeout, waits for ever.
    [[nodiscard]] base::Expected<Message> receive(std::span<char> buffer,
                                                  std::optional<std::chrono::nanoseconds> timeout) noexcept;

    // For poll(): readable if receive() would not wait.
    [[nodiscard]] int fd() const noexcept { return end_.get(); }

  private:
    UniqueFd end_;
};

// Memory that two processes map. A worker process writes its records there, and memsweep reads them without a message.
//
// Units    bytes.
// Sources  memfd_create, MAP_SHARED; zero-filled. The size is sealed: if a peer could shrink the memory, a reader would
//          get SIGBUS.
// Memory   a page counts in the resident set of every process that has touched it.
// Errors   os: memfd_create, ftruncate or mmap refused; invalid_input: an empty region, or a file that is too small.
// Ownership  the region owns its descriptor and its mapping; moving it leaves the memory where it is.
class SharedRegion {
  public:
    // `name` appears in /proc/PID/maps.
    [[nodiscard]] static base::Expected<SharedRegion> create(std::uint64_t bytes, const std::string& name);

    // Maps a whole region that another process created. `least_bytes`: the smallest size that the caller accepts.
    [[nodiscard]] static base::Expected<SharedRegion> map(UniqueFd fd, std::uint64_t least_bytes = 1);

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    // Returns the object of type T at the start of the region. The region must be large enough for it.
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
