// Which malloc a case's worker runs under, and the allocators that memsweep knows by name.
//
// Another malloc than the C library's is put in front of it by the dynamic linker (LD_PRELOAD), as a user would.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memsweep::model {

using Variables = std::vector<std::pair<std::string, std::string>>;  // environment variables: name, value

struct AllocatorSpec {
    std::string name;       // empty: whichever malloc memsweep itself runs under; else a known name or a library's path
    std::string library;    // where it was found; empty for the C library's own
    Variables environment;  // its settings, as it reads them
    friend bool operator==(const AllocatorSpec&, const AllocatorSpec&) = default;
};

struct KnownAllocator {
    std::string_view name;
    std::array<std::string_view, 3> libraries;  // the first that is there is taken; none: the C library's own
    std::string_view package;                   // Debian's
    std::string_view meaning;
};

[[nodiscard]] std::span<const KnownAllocator> allocators();
[[nodiscard]] const KnownAllocator* find_allocator(std::string_view name);  // nullptr for an unknown name
[[nodiscard]] std::vector<std::string_view> allocator_names();

[[nodiscard]] bool is_library_path(std::string_view name);  // "/path/to/any.so"

// The known allocator that a variable of the environment is for; empty: none of them reads it.
[[nodiscard]] std::string_view allocator_set_by(std::string_view variable);

// Whether a variable of the environment changes how one of these allocators works.
[[nodiscard]] bool sets_an_allocator(std::string_view variable);

}  // namespace memsweep::model
