// How a process has memsweep open its files in the folder of a recording or of counts, after it has given up the right
// to do so itself: it has become another user, or sees other files. The file "starts", which it has mapped, says where
// memsweep listens. The process connects, sends a FileRequest, and receives a FileAnswer with the descriptor
// (SCM_RIGHTS). One connection is for one file. The sockets are SOCK_SEQPACKET.
//
// Sources  unix(7). Names of the abstract namespace do not depend on users and folders, but on the network namespace.
// Memory   none, and no library: the recorder includes this file.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace memsweep::trace {

// Nobody else knows it. Any process may connect to the socket, and take its name when memsweep has ended.
using LendingSecret = std::array<std::uint64_t, 2>;

struct Lending {
    std::uint32_t name_bytes{};  // 0: nobody lends
    char name[12]{};             // of the socket, in the abstract namespace: it begins with a zero byte
    LendingSecret asking{};      // that a request has
    LendingSecret answering{};   // that an answer has
};

struct FileRequest {
    LendingSecret secret{};
    std::uint32_t is_new{};  // 1: to be made, 0: to be opened again
    char name[44]{};         // <process>.<number><ending>, and zeroes
};
static_assert(sizeof(FileRequest) == 64 && std::is_trivially_copyable_v<FileRequest>);

struct FileAnswer {
    LendingSecret secret{};
    std::uint32_t problem{};  // errno; 0: the descriptor is with it
    std::uint32_t reserved{};
};
static_assert(std::is_trivially_copyable_v<FileAnswer>);

}  // namespace memsweep::trace
