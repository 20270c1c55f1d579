// Transfers made ready together and run at once, turn by turn.
//
// Units    bytes, nanoseconds.
//
// Sources  One thread runs them all, those of higher priority first, at most so many at a time. A staged transfer has
//          threads of its own if processors are to spare. While every transfer is blocked, the thread reads memory of
//          its own, if it was given such work, or waits for the device. A transfer that fails is started again from its
//          first byte, after a delay that doubles. If processors move the data, they are those of the named node, or
//          those beside memory that names a node. If a device moves it, processors of the node to which the device is
//          attached make the calls and touch its host memory. An optional transfer is left out if this machine lacks
//          its device. If none is left, all are missing.
//
// Data     Every source word holds its position and its transfer; every destination is poisoned with another's.
//
// Errors   not_supported: a device, a kind of memory or a limit that this machine lacks; budget: more pinned memory
//          than allowed, naming both; device: a transfer that failed for good, with its words and how often;
//          invalid_input: a strategy that the ends do not allow. After any of them nothing is in progress or held.
//
// Threads  one calls.
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
    // Makes and writes the memory of all ends, and the slots that the copies need. Fresh ends are made in every turn.
    [[nodiscard]] static base::Expected<TransferSet> make(device::Runtime& runtime, const sys::Clock& clock,
                                                          std::vector<model::TransferJob> jobs,
                                                          const model::TransferOptions& options);

    TransferSet(const TransferSet&) = delete;
    TransferSet& operator=(const TransferSet&) = delete;
    TransferSet(TransferSet&&) noexcept = default;
    TransferSet& operator=(TransferSet&&) = delete;
    ~TransferSet();

    // All of them once.
    [[nodiscard]] base::Expected<void> run_turn();
    // Compares every byte of every destination and counts wrong ones. The text names the first transfer with wrong
    // bytes; it is empty if there is none.
    [[nodiscard]] base::Expected<std::string> check();

    [[nodiscard]] const TransferStatistics& statistics() const noexcept { return *statistics_; }
    // The routes of all transfers: "host -> gpu0.ce -> gpu0: staged, ordinary host memory ...".
    [[nodiscard]] std::string routes() const;
    // The number of rings of a staged transfer.
    [[nodiscard]] std::uint32_t rings(std::size_t number) const { return transfers_.at(number).rings; }
    [[nodiscard]] const Route& route(std::size_t number) const { return transfers_.at(number).route; }
    [[nodiscard]] const EndMemory& src(std::size_t number) const { return *transfers_.at(number).src; }
    [[nodiscard]] const EndMemory& dst(std::size_t number) const { return *transfers_.at(number).dst; }
    // How long one transfer took in the last turn, from its own start to its own end.
    [[nodiscard]] std::chrono::nanoseconds last_time(std::size_t number) const { return transfers_.at(number).took; }

  private:
    struct PreparedTransfer {
        model::TransferJob job;
        model::TransferOptions options;  // a chunk's bytes are known
        Route route;
        std::unique_ptr<EndMemory> src, dst;
        std::unique_ptr<AsyncCopy> copy;
        std::chrono::nanoseconds began{}, took{};
        std::uint32_t attempts{};
        std::vector<std::uint32_t> cpus;  // that move it; empty: wherever the thread runs
        std::uint32_t rings{1};           // staged
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
    std::unique_ptr<TransferStatistics> statistics_;  // at an address that stays
    std::vector<PreparedTransfer> transfers_;         // those of higher priority first
    std::size_t left_out_{};                          // optional ones without their device
    std::unique_ptr<sys::Affinity> affinity_;         // while a turn runs
    std::vector<std::uint64_t> work_;                 // what the program reads
    std::uint64_t work_left_bytes_{};
    std::uint64_t work_sum_{};
};

}  // namespace memsweep::transfer
