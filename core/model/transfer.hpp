// A transfer as text: source, mover, destination, as in "host:pinned@node0 -> cpu -> host@node1". Also the options by
// which a step runs transfers: how often, and by which strategy.
//
// Units    bytes, counts; durations are std::chrono.
// Grammar  transfer = end "->" mover "->" end
//          end = "null" | ["rank" N ":"] ("host" [":" KIND] ["@node" N] | "gpu" N)
//          KIND = a name of HostKind, such as pinned; N and K = numbers from 0
//          mover = "cpu" [N] | "gpu" N ".ce" [K] | "gpu" N ".sm"
//          - null: there is no memory at that end, so bytes are only read, or only written.
//          - gpuN: N may be *, which means every device. With * at both ends: every pair of two devices. With * in the
//            mover: the source's device if the source has *, else the destination's.
//          - cpuN: the processors of NUMA node N. cpu: the processors near the source, or near the destination if the
//            source is null.
//          - rank N: MPI moves the bytes between ranks, so the mover may be left out: "rank0:host -> rank1:host@node0".
//          - Blanks around words are ignored.
// Sources  the triples of TransferBench (AMD), with different words for the ends.
// Errors   invalid_input: the message names the wrong word, its position in the text, and valid words.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/names.hpp"

namespace memsweep::model {

enum class HostKind : std::uint8_t {
    ordinary,
    pinned,
    small,
    thp,
    hugetlb_2m,
    hugetlb_1g,
    registered,
    write_combined,
    mapped,
    managed
};

template <>
inline constexpr auto name_table<HostKind> = std::to_array<Named<HostKind>>({
    {HostKind::ordinary, "ordinary", "memory as a program gets it, on huge pages if there are any"},
    {HostKind::pinned, "pinned", "locked in memory; a device's driver can read it directly"},
    {HostKind::small, "4k", "base pages only"},
    {HostKind::thp, "thp", "transparent huge pages"},
    {HostKind::hugetlb_2m, "hugetlb_2m", "reserved huge pages of 2 MiB"},
    {HostKind::hugetlb_1g, "hugetlb_1g", "reserved huge pages of 1 GiB"},
    {HostKind::registered, "registered",
     "a program's own memory, registered with a device's driver after it was allocated"},
    {HostKind::write_combined, "write_combined", "pinned and not cached by the processor: fast to write, slow to read"},
    {HostKind::mapped, "mapped", "pinned, and mapped into the device's address space"},
    {HostKind::managed, "managed", "moved between host and device by the driver, page by page, on demand"},
});

// One end of a transfer: the source or the destination of its bytes.
struct TransferEnd {
    enum class Kind : std::uint8_t { null, host, device };
    Kind kind{};
    HostKind host{};
    std::optional<std::uint32_t>
        number;  // of the NUMA node or the device; absent: a node that the kernel chooses, or every device ("gpu*")
    std::optional<std::uint32_t> rank;  // absent: this process
    friend bool operator==(const TransferEnd&, const TransferEnd&) = default;
};

// What moves the bytes of a transfer.
struct Mover {
    enum class Kind : std::uint8_t { processors, copy_engine, device_kernel };
    Kind kind{};
    std::optional<std::uint32_t> number;  // of the NUMA node or the device; absent: determined by the ends
    std::optional<std::uint32_t> engine;  // which copy engine of the device; absent: any
    friend bool operator==(const Mover&, const Mover&) = default;
};

struct TransferSpec {
    TransferEnd src;
    Mover exe;
    TransferEnd dst;
    friend bool operator==(const TransferSpec&, const TransferSpec&) = default;
};

[[nodiscard]] base::Expected<TransferEnd> parse_end(std::string_view text);
[[nodiscard]] base::Expected<Mover> parse_mover(std::string_view text);
[[nodiscard]] base::Expected<TransferSpec> parse_transfer(std::string_view text);

// The number of MPI ranks that a scenario needs.
struct RankNeed {
    std::uint32_t count{};  // 0: no ranks, the scenario runs in one process
    bool or_more{};         // more ranks are accepted too
    friend bool operator==(const RankNeed&, const RankNeed&) = default;
};
[[nodiscard]] bool is_met(const RankNeed& need, std::uint32_t ranks);
[[nodiscard]] std::string to_text(const RankNeed& need);  // "2 MPI ranks", "2 or more MPI ranks"

// What is wrong with a transfer that the grammar allows. There are three such mistakes: the transfer goes from null to
// null, its mover belongs to neither end, or processors would have to reach a device's memory. Empty: nothing is wrong.
[[nodiscard]] std::string objection(const TransferSpec& spec);

// Why MPI cannot run the transfer if there are `ranks` ranks; empty if it can.
[[nodiscard]] std::string rank_objection(const TransferSpec& spec, std::uint32_t ranks);

// Converts to text that the parsers accept: "host:pinned@node0", "cpu0", "gpu1.ce", "host -> cpu -> host".
[[nodiscard]] std::string to_text(const TransferEnd& end);
[[nodiscard]] std::string to_text(const Mover& mover);
[[nodiscard]] std::string to_text(const TransferSpec& spec);

[[nodiscard]] bool is_on_host(const TransferSpec& spec);
[[nodiscard]] bool names_rank(const TransferSpec& spec);

// names_each_device says whether an end is "gpu*". for_each_device replaces "gpu*" and returns the transfers for a
// machine with `devices` devices; no transfer goes from a device to itself.
[[nodiscard]] bool names_each_device(const TransferSpec& spec);
[[nodiscard]] std::vector<TransferSpec> for_each_device(const TransferSpec& spec, std::uint32_t devices);

// The way in which bytes are moved.
enum class Strategy : std::uint8_t { automatic, host, local, p2p, pinned, staged, registered, direct };

template <>
inline constexpr auto name_table<Strategy> = std::to_array<Named<Strategy>>({
    {Strategy::automatic, "auto",
     "the first of the next five strategies that both ends allow; but direct for less than 4 MiB of ordinary memory if "
     "no chunk is given; the report says which, and why"},
    {Strategy::host, "host", "a processor copies between host memory and host memory"},
    {Strategy::local, "local", "a copy within one device"},
    {Strategy::p2p, "p2p", "one copy between two devices that can access each other's memory; staged if they cannot"},
    {Strategy::pinned, "pinned", "one copy between a device and host memory that its driver reads directly"},
    {Strategy::staged, "staged", "chunk by chunk through rings of pinned slots on the host"},
    {Strategy::registered, "registered",
     "one copy from or to ordinary host memory, which is registered with the driver before it and unregistered after "
     "it"},
    {Strategy::direct, "direct", "one copy between any memory: the baseline of staging"},
});

struct TransferJob {
    TransferSpec spec;
    std::uint64_t bytes{64U << 20U};
    std::uint32_t priority{5};  // 0 to 10; transfers with a higher priority begin first
    bool optional{};            // made from "gpu*"; left out if the machine lacks the devices
    friend bool operator==(const TransferJob&, const TransferJob&) = default;
};

// The largest number of devices that "gpu*" can mean, and the largest number of transfers of one step.
inline constexpr std::uint32_t max_each_devices = 8;
inline constexpr std::size_t max_transfers_at_once = 64;

// How a step runs its transfers. Each optimization can be switched off, so that its effect can be measured.
struct TransferOptions {
    Strategy strategy{Strategy::automatic};
    std::uint64_t times{1};       // turns, one after another; a turn runs all transfers of the step once
    std::uint64_t pieces{1};      // number of copies into which each transfer is divided
    bool batch{};                 // pieces are gathered in pinned memory and moved by one copy
    bool sync_each{};             // the program waits for each piece before it starts the next
    std::uint64_t chunk_bytes{};  // size of a staging chunk; 0: chosen by the size of the transfer
    std::uint32_t slots{2};       // number of slots in a staging ring; each slot holds a chunk
    std::uint32_t threads{};  // threads per staged transfer; each moves a part of it through its own ring; 0: automatic
    bool pipeline{true};      // a slot is filled while another one is being copied
    bool adaptive{};          // the chunk size follows the measured rate
    std::uint32_t concurrency{};   // largest number of transfers in progress at a time; 0: no limit
    std::uint64_t offset_bytes{};  // distance of the first byte from the start of the memory, at both ends
    std::uint32_t retries{3};
    std::chrono::nanoseconds retry_delay{std::chrono::milliseconds{1}};  // doubles with each retry, up to a second
    std::uint64_t pinned_budget_bytes{};  // limit of pinned memory (ends, slots); 0: a quarter of available memory
    bool fresh{};                         // memory of both ends is allocated and freed in every turn
    std::uint64_t chain{};                // number of kernels that the device runs on the data
    bool keep{true};  // the data stay on the device between these kernels; else each kernel copies them in and back
    std::uint64_t work_bytes{};  // bytes that the program itself reads in every turn
    // true: the program reads `work_bytes` after the transfers have ended; false: during the transfers.
    bool blocking{};
    friend bool operator==(const TransferOptions&, const TransferOptions&) = default;
};

}  // namespace memsweep::model
