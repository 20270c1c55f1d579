// Accelerators that are not there: blocks are ordinary memory, streams are queues, and time is counted, not measured.
//
// Work runs late on purpose: a command is carried out when somebody waits for it, or when happened() is asked (one
// command a question), so that whoever reuses a buffer too early is found out by the data.
// Units    bytes; seconds of an invented clock: a copy takes latency_s + bytes / bytes_per_s.
// Errors   device: as injected. timeout: somebody waits for a stream that a latch holds: the real one would hang; or a
//          queue was full behind a latch, which let go by itself, as CUDA's does after ten seconds.
// Threads  may be used by several at once.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "core/device/runtime.hpp"

namespace memsweep::tests {

struct FakeMachine {
    std::uint32_t devices{2};
    std::uint64_t memory_bytes{1ULL << 30U};  // of each device
    double bytes_per_s{1e9};
    double latency_s{1e-6};
    std::uint32_t hot_looks{};  // of the looks at the clocks of busy devices, so many first ones find them hot
    bool link{};                // PCI Express, which rests at generation 1 while nothing is queued, as the clocks rest
    bool shares_host_memory{};
    bool is_on_bus{};                        // PCI, at "0000:01:00.0", "0000:02:00.0" and so on
    std::optional<std::uint32_t> numa_node;  // that the first device is attached to
    bool peers{};                            // may be direct, once set_peer_access has said so
    std::set<device::MemoryKind> lacking;    // kinds that this machine does not have
    std::uint64_t cache_bytes{};             // of each device, before its memory; loads that it answers take a tenth
    std::size_t queue_limit{1024};           // commands of a stream; who asks for more waits until one is done
};

// Which lines of a device's memory its cache holds: those used last.
class FakeCache {
  public:
    static constexpr std::uint64_t line_bytes = 128;

    explicit FakeCache(std::uint64_t bytes) : lines_{bytes / line_bytes} {}
    bool use(device::MemoryId memory, std::uint64_t offset_bytes);  // whether it was there; now it is
    void use(device::Address first, std::uint64_t bytes);

  private:
    using Line = std::pair<device::MemoryId, std::uint64_t>;
    std::uint64_t lines_;
    std::list<Line> held_;  // the latest first
    std::map<Line, std::list<Line>::iterator> places_;
};

struct CopyRecord {
    device::MemoryKind from{}, to{};
    std::uint32_t from_device{}, to_device{};
    std::uint64_t bytes{};
    bool by_kernel{};
};

class FakeRuntime final : public device::Runtime {
  public:
    explicit FakeRuntime(FakeMachine machine = {});

    // Of the copies to come, 1 is the next; `times` of them in a row.
    void fail_copies(std::uint64_t nth, std::uint64_t times = 1) { failing_ = {copies_asked_ + nth, times}; }
    void fail_copies_late(std::uint64_t nth, std::uint64_t times = 1) { failing_late_ = {copies_asked_ + nth, times}; }
    void corrupt_copies(std::uint64_t nth, std::uint64_t times = 1) { corrupting_ = {copies_asked_ + nth, times}; }
    void delay_copies(std::uint64_t nth, double seconds, std::uint64_t times = 1)
    {
        delaying_ = {copies_asked_ + nth, times};
        delay_s_ = seconds;
    }
    // The context is lost once it is carried out: everything fails from there on.
    void break_with_copy(std::uint64_t nth) { breaking_ = {copies_asked_ + nth, 1}; }
    void corrupt_chains() { corrupting_chains_ = true; }  // kernels that follow one end elsewhere
    void fail_allocations(std::uint64_t nth, std::uint64_t times = 1) { refusing_ = {blocks_asked_ + nth, times}; }

    // Copies that were queued without an error, in order, whether carried out yet or not.
    [[nodiscard]] const std::vector<CopyRecord>& copies() const noexcept { return copies_; }
    [[nodiscard]] std::size_t longest_queue() const noexcept { return longest_queue_; }  // that a stream ever had
    [[nodiscard]] std::uint32_t most_shared() const noexcept { return most_shared_; }    // streams that share a device
    [[nodiscard]] std::uint64_t events_recorded() const noexcept { return events_recorded_; }
    [[nodiscard]] double now() const noexcept { return now_s_; }  // the latest end that anybody waited for

    [[nodiscard]] std::string_view backend() const noexcept override { return "fake"; }
    [[nodiscard]] const std::vector<device::DeviceFacts>& devices() const noexcept override { return facts_; }
    [[nodiscard]] std::string absence() const override { return facts_.empty() ? "no device was invented" : ""; }
    [[nodiscard]] std::optional<std::string> lacks(std::uint32_t number, device::MemoryKind kind) const override;
    [[nodiscard]] device::PeerLink peer(std::uint32_t from, std::uint32_t to) const override;
    [[nodiscard]] base::Expected<void> set_peer_access(std::uint32_t from, std::uint32_t to, bool on) override;
    [[nodiscard]] std::optional<device::HostLink> host_link(std::uint32_t number) const override;
    [[nodiscard]] device::Holdings holdings() const override;
    [[nodiscard]] std::optional<std::string> lost() const override;
    [[nodiscard]] std::optional<device::Clocks> clocks(std::uint32_t number) const override;
    [[nodiscard]] base::Expected<void> share_device(device::StreamId stream, std::uint32_t streams) override;
    [[nodiscard]] base::Expected<device::RawBlock> allocate(const device::BlockRequest& request) override;
    [[nodiscard]] base::Expected<device::RawBlock> adopt(std::uint32_t number, void* ordinary,
                                                         std::uint64_t bytes) override;
    base::Expected<void> close(device::MemoryId memory) override;
    [[nodiscard]] base::Expected<std::byte*> map(device::MemoryId memory, device::Access access) override;
    [[nodiscard]] base::Expected<void> unmap(device::MemoryId memory) override;
    [[nodiscard]] base::Expected<device::StreamId> open_stream(std::uint32_t number) override;
    base::Expected<void> close(device::StreamId stream) override;
    [[nodiscard]] base::Expected<void> wait(device::StreamId stream) override;
    [[nodiscard]] base::Expected<void> copy(device::StreamId stream, device::Address to, device::Address from,
                                            std::uint64_t bytes) override;
    [[nodiscard]] base::Expected<void> fill(device::StreamId stream, device::Address to, std::byte value,
                                            std::uint64_t bytes) override;
    [[nodiscard]] base::Expected<void> copy_by_kernel(device::StreamId stream, device::Address to, device::Address from,
                                                      std::uint64_t bytes) override;
    [[nodiscard]] base::Expected<void> write_pattern(device::StreamId stream, device::Address to, std::uint64_t bytes,
                                                     device::Pattern pattern) override;
    [[nodiscard]] base::Expected<device::Mismatch> check_pattern(device::StreamId stream, device::Address from,
                                                                 std::uint64_t bytes, device::Pattern pattern) override;
    [[nodiscard]] base::Expected<void> follow(device::StreamId stream, device::Address chain, std::uint64_t bytes,
                                              std::uint64_t loads, device::Address place) override;
    [[nodiscard]] base::Expected<void> prefetch(device::StreamId stream, device::Address managed, std::uint64_t bytes,
                                                device::Side to) override;
    [[nodiscard]] base::Expected<device::EventId> record(device::StreamId stream) override;
    base::Expected<void> close(device::EventId event) override;
    [[nodiscard]] base::Expected<void> wait(device::EventId event) override;
    [[nodiscard]] base::Expected<bool> happened(device::EventId event) override;
    [[nodiscard]] base::Expected<void> after(device::StreamId stream, device::EventId event) override;
    [[nodiscard]] base::Expected<double> seconds_between(device::EventId first, device::EventId second) override;
    [[nodiscard]] base::Expected<device::LatchId> hold(device::StreamId stream) override;
    base::Expected<void> close(device::LatchId latch) override;

  private:
    struct Block {
        device::MemoryKind kind{};
        std::uint32_t device{};
        std::uint64_t bytes{};
        std::vector<std::byte> own;
        std::byte* data{};
        bool is_mapped{};
    };
    struct Command {
        std::function<base::Expected<void>()> run;
        double seconds{};
        device::EventId waits_for{};
        device::EventId announces{};
        device::LatchId held_by{};
    };
    struct Stream {
        std::uint32_t device{};
        std::deque<Command> queue;
        double at_s{};
        std::optional<base::Error> failure;  // shows at the next wait
    };
    struct Event {
        device::StreamId stream{};
        std::optional<double> at_s;
    };
    struct Range {  // of copies or allocations, counted from 1
        std::uint64_t first{}, times{};
        [[nodiscard]] bool has(std::uint64_t number) const noexcept
        {
            return number >= first && number - first < times;
        }
    };
    struct Span {
        std::byte* data{};
        device::MemoryKind kind{};
        std::uint32_t device{};
    };

    [[nodiscard]] base::Expected<Stream*> find(device::StreamId stream);
    [[nodiscard]] base::Expected<Event*> find(device::EventId event);
    [[nodiscard]] base::Expected<Block*> find(device::MemoryId memory);
    [[nodiscard]] base::Expected<Span> span(device::Address address, std::uint64_t bytes);
    [[nodiscard]] base::Expected<void> queue_copy(device::StreamId stream, device::Address to, device::Address from,
                                                  std::uint64_t bytes, bool by_kernel);
    void cache(device::Address first, std::uint64_t bytes);  // it was read or written
    void push(Stream& stream, Command command);              // where the queue is full it is first carried out in part
    enum class Step : std::uint8_t { done, idle, stuck };
    [[nodiscard]] Step step(Stream& stream);  // carries out its next command, and first what that waits for
    [[nodiscard]] base::Expected<void> drain(Stream& stream, device::EventId until);

    FakeMachine machine_;
    std::vector<device::DeviceFacts> facts_;
    std::vector<FakeCache> caches_;  // of each device
    mutable std::uint32_t looks_{};  // at the clocks of a busy device
    double loading_s_{};             // of the command that is being carried out
    mutable std::recursive_mutex mutex_;
    std::map<device::MemoryId, Block> blocks_;
    std::map<device::StreamId, Stream> streams_;
    std::map<device::EventId, Event> events_;
    std::map<device::LatchId, device::StreamId> latches_;
    std::set<device::LatchId> gave_up_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> direct_;
    std::vector<CopyRecord> copies_;
    std::uint64_t last_id_{};
    std::uint64_t copies_asked_{}, blocks_asked_{};
    Range failing_, failing_late_, corrupting_, delaying_, refusing_, breaking_;
    bool is_lost_{};
    std::uint64_t events_recorded_{};
    std::uint32_t most_shared_{};
    double delay_s_{}, now_s_{};
    bool corrupting_chains_{};
    std::size_t longest_queue_{};
};

}  // namespace memsweep::tests
