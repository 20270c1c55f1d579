// Why allocators have the cliffs that are known, and the settings that should move them.
//
// Sources  glibc 2.36, jemalloc 5.3.0, mimalloc 2.0.9 and gperftools 2.10 (Debian 12): their documentation and source
//          name the limits; `memsweep cliffs` tries every setting and reports what it really did.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/measure/cliff_search.hpp"

namespace memsweep::measure {

struct CliffSetting {
    std::string_view variable;
    std::string_view value;
};

struct CliffCause {
    std::string_view allocator;
    CliffKind kind{};
    std::uint64_t lowest{};  // the last cheap size lies from here
    std::uint64_t highest{};
    std::string_view text;
    std::span<const CliffSetting> settings;  // to try, one by one
    std::string_view without;                // why there is none; empty when there are settings
};

[[nodiscard]] const CliffCause* find_cause(std::string_view allocator, const Cliff& cliff);  // nullptr: not known

}  // namespace memsweep::measure
