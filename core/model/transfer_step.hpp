// Transfers of a scenario: which, how often, and by which of the ways that are open to them.
//
// Units    bytes, counts; durations as named. Every extra can be switched off, so that what it is worth can be
// measured.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/transfer.hpp"

namespace memsweep::model {

// The way that bytes take.
enum class Strategy : std::uint8_t {
    automatic,
    host,        // by a processor, from host memory to host memory
    local,       // within one device
    p2p,         // from one device to another that reaches its memory
    pinned,      // between a device and host memory that its driver reads and writes directly
    staged,      // through a ring of pinned slots on the host
    registered,  // memory of the program, locked for the driver before each copy and given back after it
    direct,      // one copy, handed to the driver as it is: what staging is measured against
};
template <>
std::span<const Named<Strategy>> names<Strategy>();

struct TransferJob {
    TransferSpec spec;
    std::uint64_t bytes{64U << 20U};
    std::uint32_t priority{5};  // 0 to 10: higher ones begin first
    bool optional{};            // of each device: left out where this machine lacks its device
    friend bool operator==(const TransferJob&, const TransferJob&) = default;
};

// Devices that "gpu*" stands for at most, and transfers of one step.
inline constexpr std::uint32_t max_each_devices = 8;
inline constexpr std::size_t max_transfers_at_once = 64;

struct TransferOptions {
    Strategy strategy{Strategy::automatic};
    std::uint64_t times{1};   // all of them, one turn after the other
    std::uint64_t pieces{1};  // copies that each transfer is cut into
    bool batch{};             // pieces are gathered in pinned memory and moved by one copy
    bool sync_each{};         // the program waits for each piece before it asks for the next
    std::uint64_t chunk_bytes{4U << 20U};
    std::uint32_t slots{2};        // of a staging ring, a chunk each
    bool pipeline{true};           // a slot is filled while another is on its way
    bool adaptive{};               // chunks grow and shrink with the rate that is seen
    std::uint32_t concurrency{};   // transfers under way at a time; 0: all
    std::uint64_t offset_bytes{};  // both ends begin so far into their memory
    std::uint32_t retries{3};
    std::chrono::nanoseconds retry_delay{std::chrono::milliseconds{1}};  // doubles from one to the next
    std::uint64_t pinned_budget_bytes{};                                 // 0: a quarter of the available memory
    bool fresh{};                                                        // memory is made and given back in every turn
    std::uint64_t chain{};                                               // kernels that the device runs on what arrived
    bool keep{true};             // between them it stays on the device; else it goes back and forth
    std::uint64_t work_bytes{};  // that the program reads itself in every turn
    bool blocking{};             // after it has waited; else while the bytes are under way
    friend bool operator==(const TransferOptions&, const TransferOptions&) = default;
};

struct TransferStep;

// Host memory that they take while they run: ends, slots, and what the program reads. Devices that are processors hold
// theirs there too, so it counts.
[[nodiscard]] std::uint64_t host_bytes(const TransferStep& step);

// Whether any of them needs a device, and the highest number among those named.
struct DeviceNeed {
    bool any{};
    std::uint32_t highest{};
};
[[nodiscard]] DeviceNeed device_need(const TransferStep& step);

}  // namespace memsweep::model
