// The malloc of a case's worker, and the allocators that memsweep knows by name.
//
// The dynamic linker puts another malloc in front of the C library's (LD_PRELOAD), as a user would.
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
    std::array<std::string_view, 3> libraries;  // the first that exists is taken; none: the C library's own
    std::string_view package;                   // Debian's
    std::string_view meaning;
};

[[nodiscard]] std::span<const KnownAllocator> allocators();
[[nodiscard]] const KnownAllocator* find_allocator(std::string_view name);  // nullptr for an unknown name
[[nodiscard]] std::vector<std::string_view> allocator_names();

[[nodiscard]] bool is_library_path(std::string_view name);  // "/path/to/any.so"

// The known allocator that reads a variable of the environment; empty: none does.
[[nodiscard]] std::string_view allocator_set_by(std::string_view variable);

// Whether a variable of the environment changes how one of these allocators works.
[[nodiscard]] bool sets_an_allocator(std::string_view variable);

}  // namespace memsweep::model
