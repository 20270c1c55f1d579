#include "app/mpi/comm.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <utility>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <fmt/format.h>

#include "core/sys/machine_facts.hpp"

namespace memsweep::mpi {
namespace {

constexpr std::size_t longest_name = 256;

void doze()
{
    constexpr timespec nap{0, 500'000};
    nanosleep(&nap, nullptr);
}

int count_of(std::size_t bytes)
{
    return static_cast<int>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
}

// False when it failed or the deadline passed before.
bool wait_for(Transfer& transfer, Deadline deadline)
{
    while (!transfer.done()) {
        if (transfer.failed() || std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        doze();
    }
    return true;
}

}  // namespace

void keep_for_mpi(std::shared_ptr<void> memory)
{
    static std::vector<std::shared_ptr<void>> kept;
    kept.push_back(std::move(memory));
}

bool Transfer::done()
{
    int flag = 0;
    failed_ = failed_ || MPI_Test(&request_, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return !failed_ && flag != 0;
}

Comm::Comm(int& argc, char**& argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::array<char, longest_name> own{};
    const std::string host = sys::machine_facts().host;
    host.copy(own.data(), own.size() - 1);
    std::vector<char> all(own.size() * static_cast<std::size_t>(size));
    MPI_Allgather(own.data(), count_of(own.size()), MPI_CHAR, all.data(), count_of(own.size()), MPI_CHAR,
                  MPI_COMM_WORLD);
    for (int rank = 0; rank < size; ++rank) {
        host_names_.emplace_back(all.data() + static_cast<std::size_t>(rank) * own.size());
    }
    for (std::size_t rank = 0; rank < host_names_.size(); ++rank) {
        const bool alone = std::ranges::count(host_names_, host_names_[rank]) == 1;
        names_.push_back(alone ? host_names_[rank] : fmt::format("{}.r{}", host_names_[rank], rank));
    }
}

std::vector<std::string> Comm::hosts() const
{
    std::vector<std::string> once = host_names_;
    std::ranges::sort(once);
    once.erase(std::ranges::unique(once).begin(), once.end());
    return once;
}

std::string Comm::no_device_memory()
{
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1 ? "" : "this MPI takes no device memory (MPIX_Query_cuda_support says no)";
#else
    return "this MPI does not say whether it takes device memory (it has no MPIX_Query_cuda_support)";
#endif
}

Transfer Comm::begin_send(const void* data, std::size_t bytes, int to, int tag) const
{
    Transfer transfer;
    const int code = MPI_Isend(data, count_of(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD, &transfer.request_);
    transfer.failed_ = code != MPI_SUCCESS;
    return transfer;
}

Transfer Comm::begin_receive(void* data, std::size_t bytes, int from, int tag) const
{
    Transfer transfer;
    const int code = MPI_Irecv(data, count_of(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD, &transfer.request_);
    transfer.failed_ = code != MPI_SUCCESS;
    return transfer;
}

bool Comm::send(const std::string& text, int to, int tag, Deadline deadline) const
{
    auto kept = std::make_shared<std::string>(text);
    Transfer transfer = begin_send(kept->data(), kept->size(), to, tag);
    const bool sent = wait_for(transfer, deadline);
    if (!sent) {
        keep_for_mpi(std::move(kept));
    }
    return sent;
}

std::optional<std::string> Comm::receive(int from, int tag, Deadline deadline) const
{
    MPI_Status status{};
    for (int there = 0; there == 0;) {
        if (MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS) {
            return std::nullopt;
        }
        if (there == 0) {
            if (std::chrono::steady_clock::now() >= deadline) {
                return std::nullopt;
            }
            doze();
        }
    }
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    auto text = std::make_shared<std::string>(static_cast<std::size_t>(bytes), '\0');
    Transfer transfer = begin_receive(text->data(), text->size(), from, tag);
    if (!wait_for(transfer, deadline)) {
        keep_for_mpi(std::move(text));
        return std::nullopt;
    }
    return *std::move(text);
}

std::optional<int> Comm::first_of(bool asks) const
{
    const int own = asks ? rank_ : size();
    int lowest = size();
    MPI_Allreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return lowest < size() ? std::optional{lowest} : std::nullopt;
}

void Comm::finish(bool all_are_there) const
{
    if (all_are_there) {
        MPI_Finalize();
    }
}

}  // namespace memsweep::mpi
