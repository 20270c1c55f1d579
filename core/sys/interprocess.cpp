#include "core/sys/interprocess.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/sys/descriptor.hpp"

namespace memsweep::sys {
namespace {

// Room for the control message of one descriptor.
struct alignas(cmsghdr) ControlBuffer {
    std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

void attach(msghdr& message, ControlBuffer& control, int fd)
{
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
}

UniqueFd attached(msghdr& message)
{
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(sizeof(int))) {
        return {};
    }
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(int));
    return UniqueFd{fd};
}

}  // namespace

base::Expected<std::pair<Channel, Channel>> Channel::pair()
{
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return base::fail(base::os_error("socketpair", errno));
    }
    return std::pair{Channel{ends[0]}, Channel{ends[1]}};
}

bool Channel::is_end(int fd) noexcept
{
    const auto option = [fd](int name) {
        int value = -1;
        socklen_t bytes = sizeof value;
        return ::getsockopt(fd, SOL_SOCKET, name, &value, &bytes) == 0 ? value : -1;
    };
    return option(SO_DOMAIN) == AF_UNIX && option(SO_TYPE) == SOCK_SEQPACKET;
}

base::Expected<void> Channel::send(std::string_view bytes, std::optional<int> fd) noexcept
{
    if (bytes.empty()) {
        return base::fail(base::ErrorCode::invalid_input, "a message needs at least one byte");
    }
    iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};  // sendmsg only reads it
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ControlBuffer control;
    if (fd) {
        attach(message, control, *fd);
    }
    if (retry_interrupted([&] { return ::sendmsg(end_.get(), &message, MSG_NOSIGNAL); }) >= 0) {
        return {};
    }
    base::Error error = base::os_error("sending a message", errno);
    if (errno == EPIPE || errno == ECONNRESET) {
        error = {base::ErrorCode::worker, "the other process has closed the connection", ""};
    }
    return base::fail(std::move(error));
}

base::Expected<Message> Channel::receive(std::span<char> buffer,
                                         std::optional<std::chrono::nanoseconds> timeout) noexcept
{
    if (timeout) {
        const auto ready = MEMSWEEP_TRY(wait_readable(end_.get(), timeout));
        if (!ready) {
            Message late;
            late.timed_out = true;
            return late;
        }
    }
    iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
    ControlBuffer control;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_LEN(sizeof(int));  // CMSG_SPACE's padding has room for a second one, which would leak
    const auto next = [&] { return ::recvmsg(end_.get(), &message, MSG_CMSG_CLOEXEC); };
    ssize_t got = retry_interrupted(next);
    if (got < 0 && errno == ECONNRESET) {
        got = retry_interrupted(next);  // it closed with messages of ours unread: said once, before its own last ones
    }
    Message received;
    if (got == 0) {
        received.closed = true;
        return received;
    }
    if (got < 0) {
        return base::fail(base::os_error("receiving a message", errno));
    }
    received.fd = attached(message);
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
        return base::fail(base::ErrorCode::worker,
                          "a message is longer than expected, or carries too many descriptors");
    }
    received.bytes = std::string_view{buffer.data(), static_cast<std::size_t>(got)};
    return received;
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
    auto memory = MEMSWEEP_TRY(Mapping::map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get()));
    return SharedRegion{std::move(fd), std::move(memory), size};
}

}  // namespace memsweep::sys
