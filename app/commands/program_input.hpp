// What programs behind -- read as their standard input: taken once, and given to each of their runs from its start.
//
// Sources  what --stdin names; without it our own standard input, unless that is a terminal or a device. A regular file
//          that is at its beginning is read where it is, also if its name goes meanwhile; everything else is copied.
// Cost     the contents are read once for their digest.
// Errors   io: it cannot be read; invalid_input: it brings more than 1 GiB and is no file; timeout: our own standard
//          input is open and brings nothing for ten seconds, as that of many a job in CI.
// Ownership  path() is good for as long as the object is there.
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

    // Both empty where there is nothing to read.
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& contents() const { return contents_; }  // "12 B, sha256 ..."

  private:
    ProgramInput() = default;
    ProgramInput(sys::UniqueFd file, std::string contents);

    sys::UniqueFd file_;
    std::string path_;
    std::string contents_;
};

// Cases of scenario files name what they read: what is in those files by now, for the results to say. One that is not
// there yet, or that `prepare` may make, stays unknown.
void look_into_inputs(std::vector<model::Plan>& plans);

// Whether something is redirected into us that programs of scenarios will not get to read.
[[nodiscard]] bool has_unread_input();

}  // namespace memsweep::app
