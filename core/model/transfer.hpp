// A transfer in words: from where, by whom, to where. "host:pinned@node0 -> cpu -> host@node1"
//
// Grammar  end "->" executor "->" end; end = "null" | ["rank" N ":"] ("host" [":" KIND] ["@nodeN"] | "gpuN");
//          KIND = a name of HostKind; executor = "cpu" [N] | "gpuN.ce" [K] | "gpuN.sm". N of a device may be *: each
//          device that there is; where both ends are, every pair of two; of an executor, the source's, if that is one
//          of all, else the destination's. Blanks around words do not matter. null moves nothing at that end: bytes are
//          only read, or only written. cpuN are the processors of NUMA node N; cpu are those beside the source, or
//          beside the destination of a write. Between ranks MPI moves the bytes, so the executor may be left out:
//          "rank0:host -> rank1:host@node0".
// Sources  the triples of TransferBench (AMD), with our own words for the ends.
// Errors   invalid_input: which word is wrong, at which character of the text, and what it could be.
#pragma once

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
    managed,
};
template <>
std::span<const Named<HostKind>> names<HostKind>();

// Where bytes come from, or go to.
struct TransferEnd {
    enum class Kind : std::uint8_t { null, host, device };
    Kind kind{};
    HostKind host{};
    std::optional<std::uint32_t>
        number;  // of the NUMA node or the device; absent: wherever the kernel puts it; each device
    std::optional<std::uint32_t> rank;  // absent: this process's own
    friend bool operator==(const TransferEnd&, const TransferEnd&) = default;
};

struct Mover {
    enum class Kind : std::uint8_t { processors, copy_engine, device_kernel };
    Kind kind{};
    std::optional<std::uint32_t> number;  // of the NUMA node or the device; absent: those beside the ends
    std::optional<std::uint32_t> engine;  // of a device with several
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

// What no parser sees: a transfer from null to null, or a mover that belongs to neither end. Empty: nothing.
[[nodiscard]] std::string objection(const TransferSpec& spec);

// Why MPI cannot carry it between two of so many ranks. Empty: it can.
[[nodiscard]] std::string rank_objection(const TransferSpec& spec, std::uint32_t ranks);

// As they are parsed: "host:pinned@node0", "cpu0", "gpu1.ce", "host -> cpu -> host".
[[nodiscard]] std::string to_text(const TransferEnd& end);
[[nodiscard]] std::string to_text(const Mover& mover);
[[nodiscard]] std::string to_text(const TransferSpec& spec);

[[nodiscard]] bool is_on_host(const TransferSpec& spec);
[[nodiscard]] bool names_rank(const TransferSpec& spec);

// "gpu*" at either end, and what it means where there are so many devices: no device sends to itself.
[[nodiscard]] bool names_each_device(const TransferSpec& spec);
[[nodiscard]] std::vector<TransferSpec> for_each_device(const TransferSpec& spec, std::uint32_t devices);

}  // namespace memsweep::model
