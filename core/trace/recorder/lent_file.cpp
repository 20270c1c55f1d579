#include "core/trace/recorder/lent_file.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "core/trace/format/lent_file.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/start_notes.hpp"

namespace memsweep::trace::recorder {
namespace {

constexpr timeval longest_wait{.tv_sec = 5, .tv_usec = 0};

struct alignas(cmsghdr) DescriptorRoom {
    std::array<char, CMSG_LEN(sizeof(int))> bytes{};
};

// Of a process that has become another user, or sees other files.
bool is_denied(long problem) noexcept
{
    return problem == -EACCES || problem == -EPERM || problem == -ENOENT || problem == -ENOTDIR || problem == -EROFS;
}

template <typename... Arguments>
long uninterrupted(long number, Arguments... arguments) noexcept
{
    long result = kernel(number, arguments...);
    while (result == -EINTR) {
        result = kernel(number, arguments...);
    }
    return result;
}

long connect_to(const Lending& lending) noexcept
{
    const long made = kernel(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (made < 0) {
        return made;
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, lending.name, lending.name_bytes);
    kernel(SYS_setsockopt, made, SOL_SOCKET, SO_SNDTIMEO, &longest_wait, sizeof longest_wait);
    kernel(SYS_setsockopt, made, SOL_SOCKET, SO_RCVTIMEO, &longest_wait, sizeof longest_wait);
    const std::size_t bytes = offsetof(sockaddr_un, sun_path) + lending.name_bytes;
    const long problem = uninterrupted(SYS_connect, made, &address, bytes);
    if (problem < 0) {
        kernel(SYS_close, made);
        return problem;
    }
    return made;
}

// The descriptor that came with the message; -1: none.
int descriptor_in(msghdr& message) noexcept
{
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    int fd = -1;
    if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof fd)) {
        std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    }
    return fd;
}

// -EPROTO: whoever answers is not memsweep, or says neither what it lends nor why it does not.
long take_answer(long socket, const Lending& lending) noexcept
{
    FileAnswer answer;
    iovec part{.iov_base = &answer, .iov_len = sizeof answer};
    DescriptorRoom room;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.bytes.data();
    message.msg_controllen = room.bytes.size();
    const long got = uninterrupted(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC);
    const int fd = got > 0 ? descriptor_in(message) : -1;
    const bool is_ours = got == static_cast<long>(sizeof answer) && answer.secret == lending.answering;
    if (is_ours && answer.problem == 0 && fd >= 0) {
        return fd;
    }
    if (fd >= 0) {
        kernel(SYS_close, fd);
    }
    return is_ours && answer.problem != 0 ? -static_cast<long>(answer.problem) : -EPROTO;
}

long borrow(const Lending& lending, const char* name, bool is_new) noexcept
{
    FileRequest request{.secret = lending.asking, .is_new = is_new ? 1U : 0U};
    if (std::strlen(name) >= sizeof request.name) {
        return -ENAMETOOLONG;
    }
    std::memcpy(request.name, name, std::strlen(name));
    const long socket = connect_to(lending);
    if (socket < 0) {
        return socket;
    }
    const long sent = uninterrupted(SYS_sendto, socket, &request, sizeof request, MSG_NOSIGNAL, nullptr, 0);
    const long answer = sent < 0 ? sent : take_answer(socket, lending);
    kernel(SYS_close, socket);
    return answer;
}

}  // namespace

long open_in_folder(const char* path, bool is_new) noexcept
{
    const long own = kernel(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | (is_new ? O_CREAT | O_EXCL : 0), 0600);
    const Lending* const lending = is_denied(own) ? lending_memsweep() : nullptr;
    const char* const slash = std::strrchr(path, '/');
    if (lending == nullptr || slash == nullptr) {
        return own;
    }
    const long lent = borrow(*lending, slash + 1, is_new);
    return lent >= 0 || lent == -EEXIST ? lent : own;
}

}  // namespace memsweep::trace::recorder
