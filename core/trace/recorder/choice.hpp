// What `memsweep record` asks the recorder for, in the environment, so that it reaches every program that is started.
//
// Memory   none: nothing here allocates.
// Threads  to be called before the program has threads.
#pragma once

#include <cstdint>
#include <span>

#include "core/trace/format/recording_layout.hpp"

namespace memsweep::trace::recorder {

struct Choice {
    std::uint64_t min_size{};       // bytes, by malloc_usable_size
    std::uint64_t sample{1};        // one address of so many
    std::uint32_t only_child_of{};  // the process that shall be recorded alone is this one's child; 0: all are
    bool on{};
};

// The folder of the recording goes to `folder`; `on` is false when none was given.
[[nodiscard]] Choice read_choice(std::span<char> folder) noexcept;

}  // namespace memsweep::trace::recorder
