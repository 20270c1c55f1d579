// Taking resident pages away from arrays that a program still uses, by which mechanism and when it happens by itself;
// and bringing pages in before they are used, by which advice.
//
// Units    bytes.
// Sources  madvise(2); memory.reclaim of cgroup v2.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/names.hpp"

namespace memsweep::model {

enum class TrimHow : std::uint8_t { none, soft, dontneed, free, cold, pageout, cgroup };

enum class PrefetchHow : std::uint8_t { none, willneed, populate_read, populate_write };

// What has become of the contents once the pages are gone.
enum class Contents : std::uint8_t { kept, lost, uncertain };

template <>
std::span<const Named<TrimHow>> names<TrimHow>();
template <>
std::span<const Named<PrefetchHow>> names<PrefetchHow>();
template <>
std::span<const Named<Contents>> names<Contents>();

[[nodiscard]] Contents contents_after(TrimHow how);

// While the process's resident set is above the limit, every array that the program can reach is trimmed before each
// operation: what floats unreachable stays resident, and the arrays in use pay for it.
struct TrimPolicy {
    std::uint64_t above_bytes{};  // of the resident set; 0: never
    TrimHow how{TrimHow::soft};
    friend bool operator==(const TrimPolicy&, const TrimPolicy&) = default;
};

struct MemorySpec;
struct SafetySpec;

// Why memory of this kind cannot be trimmed so; empty when it can.
[[nodiscard]] std::string trim_objection(TrimHow how, const MemorySpec& memory, const SafetySpec& safety);

}  // namespace memsweep::model
