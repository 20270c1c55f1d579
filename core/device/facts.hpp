// What is known of an accelerator and of its memory: plain values.
//
// Units    bytes, hertz, bits of a bus, bytes per second; an absent optional was not told, it is never 0.
// Sources  clGetDeviceInfo; cudaGetDeviceProperties and cudaDeviceGetAttribute; NVML for links. `facts` says which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memsweep::device {

// Where bytes of a transfer lie.
enum class MemoryKind : std::uint8_t {
    pageable,        // ordinary memory of the process
    pinned,          // host memory that the runtime allocated page-locked
    registered,      // ordinary memory that the runtime locked afterwards
    write_combined,  // pinned, uncached by the processor: fast to write, slow to read
    mapped,          // pinned, and loaded from or stored to by kernels where it lies (zero copy)
    device,          // the accelerator's own
    managed,         // one address for both sides, moved on demand
    stream_ordered,  // the accelerator's own, from a pool, in the order of a stream
};
[[nodiscard]] const std::vector<MemoryKind>& memory_kinds();
[[nodiscard]] std::string_view name_of(MemoryKind kind) noexcept;

enum class DeviceClass : std::uint8_t { gpu, cpu, accelerator };
[[nodiscard]] std::string_view name_of(DeviceClass device_class) noexcept;

struct DeviceFacts {
    std::string name;
    std::string vendor;
    std::string driver;        // "pocl 3.1 (OpenCL 3.0)", "CUDA 13.0"
    std::string architecture;  // "sm_90"; empty: the runtime has no word for it
    std::string bus_address;   // "0000:1b:00.0"; empty: not on a PCI bus, or not told
    DeviceClass device_class{};
    std::uint64_t memory_bytes{};
    std::uint64_t largest_block_bytes{};  // of one allocation
    std::uint32_t compute_units{};
    bool shares_host_memory{};  // its memory is the host's: pinned and pageable transfers do not differ
    std::optional<std::uint32_t> copy_engines;
    std::optional<std::uint32_t> numa_node;    // that it is attached to
    std::optional<double> memory_bytes_per_s;  // what its memory could do: clock times width of the bus
    std::optional<std::uint32_t> nvlinks;      // that are up
    std::optional<std::uint64_t> clock_hz;     // of its processors, at most
};

// The link to the host as it is now: idle devices let it fall to its slowest.
struct HostLink {
    std::uint32_t generation{};  // of PCI Express, 1 to 6
    std::uint32_t lanes{};
    std::uint32_t largest_generation{};
    std::uint32_t largest_lanes{};
};

// What one direction of such a link carries at most, after encoding and packet headers of 256 byte payloads.
// Sources  PCI Express Base Specification: 2.5 to 64 GT/s a lane; 8b/10b up to generation 2, 128b/130b up to 5, FLITs
//          (242 of 256 bytes) in 6; 24 bytes of framing, sequence, header and check a packet.
[[nodiscard]] std::optional<double> bytes_per_second(std::uint32_t generation, std::uint32_t lanes) noexcept;

// From one device to another.
struct PeerLink {
    bool copies{};                         // a single copy takes both ends, however the runtime carries it out
    bool direct{};                         // one device reads and writes the other's memory itself
    std::string reason;                    // why not direct; empty when it is
    std::optional<std::uint32_t> nvlinks;  // straight to each other
};

// What a runtime holds for its user at this moment, counted as it is asked for and given back.
struct Holdings {
    std::uint64_t blocks{};
    std::uint64_t bytes{};
    std::uint64_t streams{};
    std::uint64_t events{};
    std::uint64_t latches{};
    friend bool operator==(const Holdings&, const Holdings&) = default;
};

}  // namespace memsweep::device
