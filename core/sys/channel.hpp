// A socket between two processes that keeps messages apart and can carry a file descriptor along.
//
// Sources  AF_UNIX SOCK_SEQPACKET; descriptors by SCM_RIGHTS, close-on-exec on arrival.
// Cost     a system call each for send and receive, two for a receive with a timeout. A message longer than the
//          socket's buffer (about 200 KiB) is refused by the kernel.
// Memory   allocates nothing on success.
// Errors   worker: the peer has closed (send), or a message does not fit its buffer or carries more than one
//          descriptor; timeout is no error, and neither is the peer's end in receive.
// Threads  one sender and one receiver at a time. send waits while the peer's queue is full.
// Ownership  a sent descriptor stays the sender's; a received one is the receiver's.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/expected.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

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

    // Takes over an end, such as a descriptor that this process was started with.
    explicit Channel(UniqueFd end) noexcept : end_{std::move(end)} {}
    explicit Channel(int end) noexcept : end_{end} {}

    // At least one byte: an empty message could not be told from the peer's end.
    [[nodiscard]] base::Expected<void> send(std::string_view bytes, std::optional<int> fd = std::nullopt) noexcept;

    // Waits for the next message, without a timeout for ever.
    [[nodiscard]] base::Expected<Message> receive(std::span<char> buffer,
                                                  std::optional<std::chrono::nanoseconds> timeout) noexcept;

    // For poll(): readable when receive would not wait.
    [[nodiscard]] int fd() const noexcept { return end_.get(); }

  private:
    UniqueFd end_;
};

}  // namespace memsweep::sys
