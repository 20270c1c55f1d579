// Whether stores past the caches pay for a result.
//
// Sources  measured on a Xeon with AVX-512, 2 MiB of L2 per core and a large shared L3, joining two arrays: with 1.6 MB
//          read and written in all they take 1.6 times as long as plain ones, with 2.4 MB the same, with 2.8 to 64 MB
//          0.7 to 0.83. On an EPYC with AVX-512, 1 MiB of L2 per core and 16 MiB of shared L3 for each: with 8 MB in
//          all 1.3 times, with 16 MB 0.85 where the result is written front to back and 1.4 to 2.1 where it is written
//          in pieces, with 24 to 64 MB 0.55 to 0.75. On pages that the kernel has just zeroed, and so left in the
//          caches, 1.4 times as long: memory that is not resident yet is stored to plainly.
// Cost     a system call for results large enough.
#pragma once

#include <cstdint>

#include "core/array/cast_table.hpp"

namespace memsweep::array {

// `bytes_moved` is what is read and what is written, together.
[[nodiscard]] bool pays_to_stream(const CastTable& table, void* out, std::uint64_t out_bytes,
                                  std::uint64_t bytes_moved) noexcept;

}  // namespace memsweep::array
