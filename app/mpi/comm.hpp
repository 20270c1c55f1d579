// Messages between ranks. Every wait has a deadline, so no rank waits for ever for a dead or hanging peer.
//
// A waiting rank sleeps instead of spinning, so it takes no CPU time from a rank that measures.
//
// Units    bytes; deadlines on the steady clock.
// Errors   false or nullopt: no answer in time, or MPI reported an error. In both cases the message is given up, and
//          its memory is kept until the process ends, because MPI may still write to it.
// Sources  MPI-3.1: MPI_Isend, MPI_Irecv, MPI_Test, MPI_Iprobe; MPI_ERRORS_RETURN, so that an error does not abort all
//          ranks.
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

// Keeps memory until the process ends. Call this when a wait was given up, because MPI may still write to the memory.
void keep_for_mpi(std::shared_ptr<void> memory);

// One message that is being sent or received. It may be given up at any time by destroying this object; MPI's request
// then stays open.
//
// Ownership  the caller's memory must outlive the message. If the message is given up, the memory must stay until the
//            process no longer uses MPI.
class Transfer {
  public:
    [[nodiscard]] bool done();  // polls; also true if no message was begun
    [[nodiscard]] bool failed() const { return failed_; }

  private:
    friend class Comm;

    MPI_Request request_{MPI_REQUEST_NULL};  // MPI_REQUEST_NULL again when the transfer is done
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
    // Returns the host name of a rank. If several ranks share the host, the rank is appended: "node7.r3".
    [[nodiscard]] const std::string& name(int rank) const { return names_.at(static_cast<std::size_t>(rank)); }
    [[nodiscard]] std::vector<std::string> hosts() const;  // each host a single time
    // Returns why this MPI library cannot send from device memory; empty: it can.
    [[nodiscard]] static std::string no_device_memory();

    [[nodiscard]] Transfer begin_send(const void* data, std::size_t bytes, int to, int tag) const;
    [[nodiscard]] Transfer begin_receive(void* data, std::size_t bytes, int from, int tag) const;

    [[nodiscard]] bool send(const std::string& text, int to, int tag, Deadline deadline) const;
    [[nodiscard]] std::optional<std::string> receive(int from, int tag, Deadline deadline) const;

    // Returns the lowest rank that passes true; nullopt: no rank passes true. All ranks must call this function. Call
    // it only at the start, while all ranks are alive.
    [[nodiscard]] std::optional<int> first_of(bool asks) const;

    // Ends MPI. Calls MPI_Finalize only if all ranks are alive, because MPI_Finalize would wait for ever for a dead
    // rank.
    void finish(bool all_are_there) const;

  private:
    int rank_{};
    std::vector<std::string> names_;
    std::vector<std::string> host_names_;
};

}  // namespace memsweep::mpi
