// The standard input of programs behind --: taken once, and given to each of their runs from its start.
//
// Sources  the file of --stdin; without it our own standard input, unless that is a terminal or a device. A regular
//          file at its beginning is read in its place, even if its name goes meanwhile; everything else is copied.
// Cost     the contents are read once for their digest.
// Errors   io: it cannot be read; invalid_input: it brings more than 1 GiB and is no file; timeout: our own standard
//          input is open and brings nothing for ten seconds, as in many CI jobs.
// Ownership  path() is valid as long as the object exists.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/plan.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::app {

class ProgramInput {
  public:
    // `file`: "-" waits for our own standard input for as long as it takes; empty: as above.
    [[nodiscard]] static base::Expected<ProgramInput> take(const std::string& file);

    // Both are empty if there is nothing to read.
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& contents() const { return contents_; }  // "12 B, sha256 ..."

  private:
    ProgramInput() = default;
    ProgramInput(sys::UniqueFd file, std::string contents);

    sys::UniqueFd file_;
    std::string path_;
    std::string contents_;
};

// Notes the contents of the files that cases of scenarios read as their standard input, for the results. A file that
// does not exist yet, or that `prepare` may make, stays unknown.
void look_into_inputs(std::vector<model::Plan>& plans);

// Whether input is redirected into us that no program of the scenarios will read.
[[nodiscard]] bool has_unread_input();

}  // namespace memsweep::app
