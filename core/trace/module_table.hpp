// The objects that were loaded, by the image of a process, as the trace says.
//
// Errors   nonsense ends the reading of a chunk: take() is false then.
// Threads  any, once it is read.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/trace/format/stack_layout.hpp"

namespace memsweep::trace {

class ModuleTable {
  public:
    // A payload of kind `modules`. `held` counts things, as bounds.hpp does, and stays at most `most_held`.
    bool take(std::vector<std::uint8_t> payload, std::uint32_t process, std::uint64_t& held, std::uint64_t most_held);

    // In the order in which the trace named them first. A module's number is its place, from 1.
    [[nodiscard]] const std::vector<LoadedModule>& of(const StackImage& image) const;

  private:
    std::map<StackImage, std::vector<LoadedModule>> modules_;
    std::vector<std::vector<std::uint8_t>> payloads_;  // texts lie in them
};

}  // namespace memsweep::trace
