// What two element types have in common, and which casts a caller may allow.
//
// Sources  NumPy's promotion of arrays (NEP 50: by type alone, never by value) and its five casting rules. char counts
//          as uint16, except that char with char stays char. decimal, 16 opaque bytes, goes with nothing but itself.
// Cost     a few comparisons.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model/dtype.hpp"

namespace memsweep::model {

enum class Casting : std::uint8_t {
    no,         // the same type
    equiv,      // the same bits with the same meaning: char and uint16
    safe,       // every value survives, as NumPy counts: 64-bit integers to float64 pass
    same_kind,  // safe, or no step back in bool < unsigned < signed < float < complex
    unsafe,     // whatever there is a conversion for
};

template <>
std::span<const Named<Casting>> names<Casting>();

// Empty when there is none.
[[nodiscard]] std::optional<DType> promoted(DType one, DType other);

// Of several types, promotion depends on the order (int16, uint16 and float32 make float32 or float64). As NumPy does,
// fold the types with a fraction first; true for those.
[[nodiscard]] bool is_inexact(DType dtype);

[[nodiscard]] bool can_cast(DType from, DType to, Casting casting);

}  // namespace memsweep::model
