// The malloc that a case's worker process uses, and the allocators that memsweep knows by name.
//
// An allocator other than the C library's is loaded by the dynamic linker (LD_PRELOAD), as users do by hand.
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
    std::string name;       // a known name or a library's path; empty: the malloc that memsweep itself uses
    std::string library;    // path of the library; empty for the C library's own malloc
    Variables environment;  // its settings as environment variables
    friend bool operator==(const AllocatorSpec&, const AllocatorSpec&) = default;
};

struct KnownAllocator {
    std::string_view name;
    std::array<std::string_view, 3> libraries;  // the first that exists is used; all empty: the C library's own malloc
    std::string_view package;                   // Debian package
    std::string_view meaning;
};

[[nodiscard]] std::span<const KnownAllocator> allocators();
[[nodiscard]] const KnownAllocator* find_allocator(std::string_view name);  // nullptr for an unknown name
[[nodiscard]] std::vector<std::string_view> allocator_names();

[[nodiscard]] bool is_library_path(std::string_view name);  // "/path/to/any.so"

// Returns the name of the known allocator that reads an environment variable; empty if none does.
[[nodiscard]] std::string_view allocator_set_by(std::string_view variable);

// Whether an environment variable changes how a known allocator works.
[[nodiscard]] bool sets_an_allocator(std::string_view variable);

}  // namespace memsweep::model
