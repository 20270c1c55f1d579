// The files of one load: their names and trees, kept for as long as places and nodes point into them.
//
// Ownership  owns every name and tree; its addresses stay put while files are added.
// Errors   into Diagnostics: what parse_document finds.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "scenarios/reader/diagnostics.hpp"
#include "scenarios/reader/document.hpp"

namespace memsweep::scenarios {

class Sources {
  public:
    explicit Sources(Diagnostics& diagnostics) : diagnostics_{diagnostics} {}

    // Null when the text is too broken to go on.
    const Node* add(const std::string& name, std::string_view text);

    // A place that stands for a command-line flag.
    Place flag(std::string text);

    [[nodiscard]] std::size_t files() const { return files_; }

  private:
    Diagnostics& diagnostics_;
    std::deque<std::string> names_;
    std::deque<Node> roots_;
    std::uint32_t files_{};
};

}  // namespace memsweep::scenarios
