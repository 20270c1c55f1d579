// Transfers that are prepared together and run at the same time. In a turn, each transfer runs one time.
//
// Units    bytes, nanoseconds.
//
// Sources  One thread runs all transfers: higher priorities first, and no more at a time than the options allow. Only a
//          staged transfer has threads of its own, if there are processors to spare. While every transfer is blocked,
//          the one thread either waits for the device, or reads memory in place of the program's own work, at most
//          TransferOptions::work_bytes in a turn. A transfer that fails is started again from its first byte, after a
//          delay that doubles with each attempt, up to one second.
//
//          Copies by processors run on the processors of the NUMA node that the transfer names for them. If it names
//          none, they run on the node of its source or, if the source has none, on that of its destination. For copies
//          by a device, processors of the device's node make the calls and touch the host memory.
//
//          An optional transfer is left out if its device is missing. If all transfers are left out, make() fails.
//
// Data     Each word of a source encodes its position and its transfer. Each destination is first filled with other
//          bytes, so that bytes which never arrive are found.
//
// Errors   not_supported: this machine lacks a device or a kind of memory, or a limit forbids it. budget: the transfers
//          need more pinned memory than allowed; the message has both sizes. device: a transfer failed for good; the
//          message has the runtime's words and the number of attempts. invalid_input: the ends do not allow the
//          strategy. After any error no copy is in progress.
//
// Threads  one at a time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/sys/processors.hpp"
#include "core/transfer/async_copy.hpp"

namespace memsweep::transfer {

class TransferSet {
  public:
    // Allocates and writes the memory of all ends. Also allocates the slots, which are the pinned buffers of staged
    // copies. With options.fresh, the memory is only tried here; every turn allocates and writes it anew.
    [[nodiscard]] static base::Expected<TransferSet> make(device::Runtime& runtime, const sys::Clock& clock,
                                                          std::vector<model::TransferJob> jobs,
                                                          const model::TransferOptions& options);

    TransferSet(const TransferSet&) = delete;
    TransferSet& operator=(const TransferSet&) = delete;
    TransferSet(TransferSet&&) noexcept = default;
    TransferSet& operator=(TransferSet&&) = delete;
    ~TransferSet();

    // Runs every transfer one time.
    [[nodiscard]] base::Expected<void> run_turn();
    // Compares the data of every destination that keeps them, and counts wrong words of 8 bytes. The text describes the
    // first transfer with wrong bytes; it is empty if all bytes are right.
    [[nodiscard]] base::Expected<std::string> check();

    [[nodiscard]] const TransferStatistics& statistics() const noexcept { return *statistics_; }
    // Describes the routes of all transfers: "host -> gpu0.ce -> gpu0: staged, ordinary host memory ...".
    [[nodiscard]] std::string routes() const;
    // Returns the number of rings of a transfer (a ring is a few slots that are filled and emptied in turn); 1 if the
    // transfer is not staged.
    [[nodiscard]] std::uint32_t rings(std::size_t number) const { return transfers_.at(number).rings; }
    [[nodiscard]] const Route& route(std::size_t number) const { return transfers_.at(number).route; }
    [[nodiscard]] const EndMemory& src(std::size_t number) const { return *transfers_.at(number).src; }
    [[nodiscard]] const EndMemory& dst(std::size_t number) const { return *transfers_.at(number).dst; }
    // Returns how long this transfer took in the last turn, from its own start to its own end.
    [[nodiscard]] std::chrono::nanoseconds last_time(std::size_t number) const { return transfers_.at(number).took; }

  private:
    struct PreparedTransfer {
        model::TransferJob job;
        model::TransferOptions options;  // with the chunk size filled in
        Route route;
        std::unique_ptr<EndMemory> src, dst;
        std::unique_ptr<AsyncCopy> copy;
        std::chrono::nanoseconds began{}, took{};
        std::uint32_t attempts{};
        std::vector<std::uint32_t> cpus;  // processors that move it; empty: any
        std::uint32_t rings{1};           // number of rings of a staged transfer
    };

    TransferSet(device::Runtime& runtime, const sys::Clock& clock, const model::TransferOptions& options);
    [[nodiscard]] base::Expected<void> choose(std::vector<model::TransferJob> jobs);
    void choose_rings();
    [[nodiscard]] std::uint64_t pinned_bytes() const;
    [[nodiscard]] std::uint64_t pinned_budget() const;
    [[nodiscard]] base::Expected<void> check_budget() const;
    [[nodiscard]] base::Expected<void> make_memory();
    void drop_memory();
    [[nodiscard]] base::Expected<void> write_ends();
    [[nodiscard]] base::Expected<void> run_all();
    [[nodiscard]] base::Expected<void> choose_processors(PreparedTransfer& one) const;
    [[nodiscard]] base::Expected<AsyncCopy::Progress> advance(PreparedTransfer& one);
    [[nodiscard]] base::Expected<void> wait_or_work(PreparedTransfer& one);
    void work(std::uint64_t most_bytes);
    [[nodiscard]] base::Expected<AsyncCopy::Progress> try_again(PreparedTransfer& one, const base::Error& error);

    device::Runtime* runtime_;
    const sys::Clock* clock_;
    model::TransferOptions options_;
    std::unique_ptr<TransferStatistics> statistics_;  // copies refer to it, so its address must not change
    std::vector<PreparedTransfer> transfers_;         // higher priorities first
    std::size_t left_out_{};                          // optional transfers whose device is missing
    std::unique_ptr<sys::Affinity> affinity_;         // the thread's processors before the turn; null outside a turn
    std::vector<std::uint64_t> work_;                 // memory that the program's own work reads
    std::uint64_t work_left_bytes_{};
    std::uint64_t work_sum_{};
};

}  // namespace memsweep::transfer
