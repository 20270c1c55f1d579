// A transfer in words: source, mover, destination, as in "host:pinned@node0 -> cpu -> host@node1". Also how a step
// carries transfers out: how often, and by which of their possible ways.
//
// Units    bytes, counts; durations as named.
// Grammar  end "->" executor "->" end; end = "null" | ["rank" N ":"] ("host" [":" KIND] ["@nodeN"] | "gpuN");
//          KIND = a name of HostKind; executor = "cpu" [N] | "gpuN.ce" [K] | "gpuN.sm". N of a device may be *: each
//          device; if both ends have it, every pair of two devices. * of an executor is the source's device, if the
//          source has *, else the destination's. Blanks around words do not matter. null moves nothing at that end:
//          bytes are only read, or only written. cpuN are the processors of NUMA node N; cpu are those beside the
//          source, or beside the destination of a write. Between ranks MPI moves the bytes, so the executor may be left
//          out: "rank0:host -> rank1:host@node0".
// Sources  the triples of TransferBench (AMD), with our own words for the ends.
// Errors   invalid_input: which word is wrong, at which character of the text, and what it could be.
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
    {HostKind::ordinary, "ordinary", "memory as a program gets it, on huge pages where there are any"},
    {HostKind::pinned, "pinned", "locked: it never leaves, and beside a device its driver may read it directly"},
    {HostKind::small, "4k", "base pages alone"},
    {HostKind::thp, "thp", "transparent huge pages"},
    {HostKind::hugetlb_2m, "hugetlb_2m", "reserved huge pages of 2 MiB"},
    {HostKind::hugetlb_1g, "hugetlb_1g", "reserved huge pages of 1 GiB"},
    {HostKind::registered, "registered", "a program's own memory, made known to a device's driver afterwards"},
    {HostKind::write_combined, "write_combined", "pinned and not cached: written straight on, slow to read"},
    {HostKind::mapped, "mapped", "pinned and seen by the device at an address of its own"},
    {HostKind::managed, "managed", "moved between host and device by the driver, page by page, on demand"},
});

// One end of a transfer: the source or the destination of its bytes.
struct TransferEnd {
    enum class Kind : std::uint8_t { null, host, device };
    Kind kind{};
    HostKind host{};
    std::optional<std::uint32_t>
        number;  // the NUMA node's or the device's; absent: of a node, the kernel's choice; of a device, each
    std::optional<std::uint32_t> rank;  // absent: this process's own
    friend bool operator==(const TransferEnd&, const TransferEnd&) = default;
};

struct Mover {
    enum class Kind : std::uint8_t { processors, copy_engine, device_kernel };
    Kind kind{};
    std::optional<std::uint32_t> number;  // the NUMA node's or the device's; absent: as the ends decide
    std::optional<std::uint32_t> engine;  // which of a device's several engines
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

// How many MPI ranks a scenario is for.
struct RankNeed {
    std::uint32_t count{};  // 0: it is for one process
    bool or_more{};
    friend bool operator==(const RankNeed&, const RankNeed&) = default;
};
[[nodiscard]] bool is_met(const RankNeed& need, std::uint32_t ranks);
[[nodiscard]] std::string to_text(const RankNeed& need);  // "2 MPI ranks", "2 or more MPI ranks"

// A mistake that the grammar allows: a transfer from null to null, or a mover that belongs to neither end. Empty: none.
[[nodiscard]] std::string objection(const TransferSpec& spec);

// Why MPI cannot carry the transfer between two of so many ranks. Empty: it can.
[[nodiscard]] std::string rank_objection(const TransferSpec& spec, std::uint32_t ranks);

// The text as it is parsed: "host:pinned@node0", "cpu0", "gpu1.ce", "host -> cpu -> host".
[[nodiscard]] std::string to_text(const TransferEnd& end);
[[nodiscard]] std::string to_text(const Mover& mover);
[[nodiscard]] std::string to_text(const TransferSpec& spec);

[[nodiscard]] bool is_on_host(const TransferSpec& spec);
[[nodiscard]] bool names_rank(const TransferSpec& spec);

// Whether "gpu*" stands at either end. for_each_device() gives the transfers that it stands for with so many devices;
// no device sends to itself.
[[nodiscard]] bool names_each_device(const TransferSpec& spec);
[[nodiscard]] std::vector<TransferSpec> for_each_device(const TransferSpec& spec, std::uint32_t devices);

// The way that bytes take.
enum class Strategy : std::uint8_t { automatic, host, local, p2p, pinned, staged, registered, direct };

template <>
inline constexpr auto name_table<Strategy> = std::to_array<Named<Strategy>>({
    {Strategy::automatic, "auto",
     "the first of the next five that both ends allow, but direct for less than 4 MiB of ordinary memory where no "
     "chunk is named; the report says which, and why"},
    {Strategy::host, "host", "a processor copies between host memory and host memory"},
    {Strategy::local, "local", "a copy within one device"},
    {Strategy::p2p, "p2p", "one copy between two devices that reach each other's memory; staged where they do not"},
    {Strategy::pinned, "pinned", "one copy between a device and host memory that its driver reads directly"},
    {Strategy::staged, "staged", "chunk by chunk through rings of pinned slots on the host"},
    {Strategy::registered, "registered",
     "ordinary host memory made known to the driver before each copy, and given back after it"},
    {Strategy::direct, "direct", "one copy, whatever memory it is from or to: what staging is measured against"},
});

struct TransferJob {
    TransferSpec spec;
    std::uint64_t bytes{64U << 20U};
    std::uint32_t priority{5};  // 0 to 10: higher ones begin first
    bool optional{};            // for "each device": left out if this machine lacks its device
    friend bool operator==(const TransferJob&, const TransferJob&) = default;
};

// The most devices that "gpu*" stands for, and the most transfers of one step.
inline constexpr std::uint32_t max_each_devices = 8;
inline constexpr std::size_t max_transfers_at_once = 64;

// Every extra can be switched off, so that its worth can be measured.
struct TransferOptions {
    Strategy strategy{Strategy::automatic};
    std::uint64_t times{1};        // all of them, one turn after the other
    std::uint64_t pieces{1};       // copies that each transfer is cut into
    bool batch{};                  // pieces are gathered in pinned memory and moved by one copy
    bool sync_each{};              // the program waits for each piece before it asks for the next
    std::uint64_t chunk_bytes{};   // 0: by the size of the transfer
    std::uint32_t slots{2};        // in a staging ring, a chunk each
    std::uint32_t threads{};       // that stage one transfer, each a part through a ring of its own; 0: by the machine
    bool pipeline{true};           // a slot is filled while another is on its way
    bool adaptive{};               // chunks grow and shrink with the rate that is seen
    std::uint32_t concurrency{};   // transfers under way at a time; 0: all
    std::uint64_t offset_bytes{};  // both ends begin so far into their memory
    std::uint32_t retries{3};
    std::chrono::nanoseconds retry_delay{std::chrono::milliseconds{1}};  // doubles, to a second
    std::uint64_t pinned_budget_bytes{};                                 // 0: a quarter of the available memory
    bool fresh{};                                                        // memory is made and given back in every turn
    std::uint64_t chain{};                                               // kernels that the device runs on the data
    bool keep{true};             // the data stay on the device between these kernels; else they go back and forth
    std::uint64_t work_bytes{};  // bytes that the program itself reads in every turn
    bool blocking{};             // it reads them after it has waited; else while the transfers are under way
    friend bool operator==(const TransferOptions&, const TransferOptions&) = default;
};

}  // namespace memsweep::model
