// Messages between ranks. Every wait has a deadline, so a dead or hanging peer holds nobody up.
//
// Idle waiting sleeps instead of spinning, so that a rank that waits takes no processor from one that measures.
//
// Units    bytes; deadlines by the steady clock.
// Errors   false, or empty: no answer in time, or MPI reported an error. What was under way is given up; its memory
//          stays reserved until the process ends, since MPI may still write to it.
// Sources  MPI-3.1: MPI_Isend, MPI_Irecv, MPI_Test, MPI_Iprobe; MPI_ERRORS_RETURN instead of an abort of all ranks.
// Threads  one.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace memsweep::mpi {

using Deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] inline Deadline within(std::chrono::nanoseconds time)
{
    return std::chrono::steady_clock::now() + time;
}

// Memory that MPI may still write to after a wait was given up: it stays until the process ends.
void keep_for_mpi(std::shared_ptr<void> memory);

// One message under way. It may be given up at any time; MPI then keeps its request.
//
// Ownership  the caller's memory must outlive the message. If the message is given up, it must outlive the process's
//            use of MPI.
class Transfer {
  public:
    [[nodiscard]] bool done();  // polls; true of one that was never begun
    [[nodiscard]] bool failed() const { return failed_; }

  private:
    friend class Comm;

    MPI_Request request_{MPI_REQUEST_NULL};  // null again once it is done
    bool failed_{};
};

class Comm {
  public:
    Comm(int& argc, char**& argv);
    ~Comm() = default;
    Comm(const Comm&) = delete;
    Comm& operator=(const Comm&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return static_cast<int>(names_.size()); }
    // The host of a rank, or HOST.rN where several ranks share a host.
    [[nodiscard]] const std::string& name(int rank) const { return names_.at(static_cast<std::size_t>(rank)); }
    [[nodiscard]] std::vector<std::string> hosts() const;  // all of them, once each
    // Why this MPI sends nothing from the memory of a device. Empty: it does.
    [[nodiscard]] static std::string no_device_memory();

    [[nodiscard]] Transfer begin_send(const void* data, std::size_t bytes, int to, int tag) const;
    [[nodiscard]] Transfer begin_receive(void* data, std::size_t bytes, int from, int tag) const;

    [[nodiscard]] bool send(const std::string& text, int to, int tag, Deadline deadline) const;
    [[nodiscard]] std::optional<std::string> receive(int from, int tag, Deadline deadline) const;

    // The lowest rank that asks for it; empty: none does. All ranks ask at the start, while all are there.
    [[nodiscard]] std::optional<int> first_of(bool asks) const;

    // Ends MPI. MPI_Finalize would wait for ever for a peer that is gone, so it is called only if all are there.
    void finish(bool all_are_there) const;

  private:
    int rank_{};
    std::vector<std::string> names_;
    std::vector<std::string> host_names_;
};

}  // namespace memsweep::mpi
