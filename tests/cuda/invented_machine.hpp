// What stands behind the invented library: devices and their links, memory and whose it is, streams and their clocks.
//
// Units    bytes, milliseconds.
// Threads  any: a call of the library holds the machine from its enter() on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/fake_cudart.hpp"

namespace memsweep::tests::fake_cudart {

inline constexpr int most_urgent = -5;  // of streams

struct InventedStream;

struct EventState {
    int device{};
    std::uint64_t asked{};  // how often it was recorded, and how far the streams have come
    std::uint64_t done{};
    double at_ms{};
    InventedStream* on{};  // that it was recorded on last
};

struct Work {
    std::function<void()> run;
    double takes_ms{};
    std::function<bool()> is_ready;  // empty: always
};

struct InventedStream {
    int device{};
    double at_ms{};
    std::deque<Work> queue;
};

struct Range {
    std::size_t bytes{};
    bool kernels_reach{};
    std::optional<int> home;  // the device whose memory it is; absent: the host's, or managed
    bool is_pooled{};
    bool is_managed{};
    std::byte* other{};  // the same memory at its second address
    bool is_registered{};
    std::map<int, std::vector<std::byte>> shadows;  // what each misdirected device takes for it
};

struct Pool {
    int device{};
    std::uint64_t kept_bytes{};
};

struct Machine {
    Devices devices;
    std::recursive_mutex mutex;  // guards everything
    Pairs accesses;              // that were enabled
    std::map<std::byte*, Range> ranges;
    std::set<InventedStream*> streams;
    std::set<std::shared_ptr<EventState>*> events;
    std::set<Pool*> pools;
    std::map<std::string, std::size_t> calls;
    std::map<std::string, cudaError_t> failing;
    cudaError_t sticky{cudaSuccess};
    bool gives_up{};   // latches do
    double host_ms{};  // the latest moment that the host has waited for
};
[[nodiscard]] Machine& machine();

// Of this thread.
[[nodiscard]] int& current_device();
void forget_last();

// What a call answers; a failure is remembered.
cudaError_t answer(cudaError_t code);

// What a call answers before it does anything; while it lives, no other thread's call does.
class Entered {
  public:
    Entered(std::unique_lock<std::recursive_mutex> lock, cudaError_t code) : lock_{std::move(lock)}, code_{code} {}
    operator cudaError_t() const noexcept { return code_; }  // NOLINT(google-explicit-constructor): it is one

  private:
    std::unique_lock<std::recursive_mutex> lock_;
    cudaError_t code_;
};
[[nodiscard]] Entered enter(const char* function);
// The same of a call that launches a kernel: it has to be on the current device.
[[nodiscard]] Entered enter_launch(const char* function, cudaStream_t stream);

[[nodiscard]] InventedStream& of(cudaStream_t stream);
[[nodiscard]] std::shared_ptr<EventState>& of(cudaEvent_t event);

// Does the next work of a stream, and first what it waits for; false: there is none, or it cannot go on.
bool step(InventedStream& stream);
void finish(InventedStream& stream);
void finish_everything();
bool happens(EventState& state, std::uint64_t until);  // goes on until it has; false: it cannot
[[nodiscard]] double ms_for(std::uint64_t bytes);
cudaError_t push(cudaStream_t stream, double takes_ms, std::function<void()> run, std::function<bool()> is_ready = {});

[[nodiscard]] std::pair<std::byte* const, Range>* range_of(const void* address);
// Where a kernel of this device finds these bytes; nullptr: nowhere, and everything is broken.
[[nodiscard]] std::byte* reached(int device, const void* address, std::uint64_t bytes, std::uint64_t alignment);
// Queues a copy by the engines.
cudaError_t push_copy(cudaStream_t stream, void* to, const void* from, std::uint64_t bytes);
// What a kernel's copy takes.
[[nodiscard]] double ms_by_kernel(int device, const void* to, const void* from, std::uint64_t bytes);
void copy_by_kernel(int device, void* to, const void* from, std::uint64_t bytes);
void copy_by_engine(int device, void* to, const void* from, std::uint64_t bytes);

// Whether these bytes are managed memory.
[[nodiscard]] bool is_managed(const void* address, std::size_t bytes);
// Of a device's own memory.
[[nodiscard]] std::size_t held_on(int device);

cudaError_t give(void** made, const Range& range);
cudaError_t give_twice(void** made, std::size_t bytes);  // at two addresses, of which kernels reach the second alone
cudaError_t take_back(void* address);

}  // namespace memsweep::tests::fake_cudart
