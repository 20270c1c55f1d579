// The messages by which a process with the recorder asks memsweep to open a file in the folder of a recording, or of
// allocation counts (run --count). The process asks if it can no longer open the file itself, because it has become
// another user or sees other files (chroot(2), a mount namespace). The file "starts", which the process has mapped,
// says where memsweep listens. The process connects, sends a FileRequest, and receives a FileAnswer with the descriptor
// (SCM_RIGHTS). Each file needs a connection of its own. The sockets are SOCK_SEQPACKET.
//
// Sources  unix(7). Names in the abstract namespace depend on the network namespace, but not on users or folders.
// Memory   none. The recorder includes this header, so it must not depend on any library.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace memsweep::trace {

// A random number that only memsweep and the processes with the recorder know. It is needed because any process may
// connect to the socket, or take the socket's name after memsweep has ended.
using LendingSecret = std::array<std::uint64_t, 2>;

struct Lending {
    std::uint32_t name_bytes{};  // length of `name`; 0: no files are lent
    char name[12]{};             // name of the socket in the abstract namespace; begins with a zero byte
    LendingSecret asking{};      // the secret in each request
    LendingSecret answering{};   // the secret in each answer
};

struct FileRequest {
    LendingSecret secret{};
    std::uint32_t is_new{};  // 1: make the file; 0: open the existing file
    char name[44]{};         // <process>.<number><ending>, padded with zeroes
};
static_assert(sizeof(FileRequest) == 64 && std::is_trivially_copyable_v<FileRequest>);

struct FileAnswer {
    LendingSecret secret{};
    std::uint32_t problem{};  // errno; 0: the answer carries the descriptor
    std::uint32_t reserved{};
};
static_assert(std::is_trivially_copyable_v<FileAnswer>);

}  // namespace memsweep::trace
