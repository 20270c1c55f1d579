// The bounds of a scenario. With these bounds, a broken or hostile file is an error before it can exhaust the machine.
// No sensible file reaches a bound. A load that reaches all of these bounds stays below 500 MB.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memsweep::scenarios {

inline constexpr std::size_t max_depth = 64;        // objects and lists within each other
inline constexpr std::size_t max_values = 200'000;  // in one file, keys not counted
inline constexpr std::size_t max_files = 32;        // a scenario and all it includes
inline constexpr std::size_t max_include_depth = 8;
inline constexpr std::size_t max_name_bytes = 64;      // also of phases and of axis values (paths: 255)
inline constexpr std::size_t max_text_bytes = 65'536;  // for a string after substitution
inline constexpr std::size_t max_axes = 16;
inline constexpr std::size_t max_axis_values = 10'000;
inline constexpr std::size_t max_cases = 100'000;
inline constexpr std::size_t max_params = 400'000;  // axis values over all cases
inline constexpr std::size_t max_exclusions = 100;  // few, because each one is compared with every combination
inline constexpr std::size_t max_asserts = 1'000;
inline constexpr std::size_t max_expression_bytes = 1'000;
inline constexpr std::size_t max_cases_with_errors = 100;  // how many cases of a scenario with errors are checked
inline constexpr std::size_t max_steps = 20'000;           // in one case, nested ones included
inline constexpr std::size_t max_case_steps = 500'000;     // steps over all cases
inline constexpr std::size_t max_repeat_depth = 8;
inline constexpr std::uint64_t max_loop_passes = 1'000'000'000'000;  // product of nested `times`
inline constexpr std::uint64_t max_samples = 100'000;        // points of one repetition; storage is reserved beforehand
inline constexpr std::uint64_t max_timed_calls = 1'000'000;  // in one repetition; storage is reserved beforehand
inline constexpr std::size_t max_shape_rank = 8;             // extents that core/array keeps inside a handle
inline constexpr std::uint64_t max_ranks = 65'536;           // MPI ranks
inline constexpr std::size_t max_errors_kept = 1'000;
inline constexpr std::size_t max_errors_shown = 50;

}  // namespace memsweep::scenarios
