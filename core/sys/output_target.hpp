// Where an output path leads: to a file that can be replaced, or to something that can only be written to.
//
// Errors   io: the path names a directory or nothing, its links go in circles, or a parent cannot be searched;
//          `where` is the path as given.
#pragma once

#include <optional>
#include <string>

#include <sys/stat.h>

#include "core/base/expected.hpp"

namespace memsweep::sys {

struct OutputTarget {
    std::string path;                     // symbolic links of the last component followed
    std::optional<int> descriptor;        // "-", /dev/stdout, /dev/fd/N: what is open already, at its present offset
    std::optional<struct stat> existing;  // absent: nothing is there yet

    // A regular file or none: what a rename may put another file in the place of.
    [[nodiscard]] bool replaceable() const noexcept;
    [[nodiscard]] std::string directory() const;
};

[[nodiscard]] base::Expected<OutputTarget> find_output_target(const std::string& path);

// An io error for `where` with errno's text: "cannot write: No space left on device".
[[nodiscard]] base::Error io_error(std::string_view what, int errno_value, const std::string& where);

}  // namespace memsweep::sys
