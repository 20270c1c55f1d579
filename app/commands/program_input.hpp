// The standard input for programs that are given after --. memsweep reads it a single time; every run of a program gets
// all of it.
//
// Sources  the file of --stdin; without --stdin our own standard input, unless our standard input is a terminal or
//          /dev/null. A regular file whose offset is 0 is read in place, even if it is deleted meanwhile. Everything
//          else is copied first.
// Cost     one reading of the contents, for their digest.
// Errors   io: the input cannot be read; invalid_input: the input has to be copied and has more than 1 GiB; timeout:
//          our own standard input is open but delivers nothing for ten seconds, as in many CI jobs.
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
    // Takes the input. `file`: the file of --stdin. "-": our own standard input, without a timeout. Empty: no --stdin
    // was given.
    [[nodiscard]] static base::Expected<ProgramInput> take(const std::string& file);

    // path() and contents() are empty if there is nothing to read.
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& contents() const { return contents_; }  // "12 B, sha256 ..."

  private:
    ProgramInput() = default;
    ProgramInput(sys::UniqueFd file, std::string contents);

    sys::UniqueFd file_;
    std::string path_;
    std::string contents_;
};

// Stores the size and the digest of each file that a scenario's program reads as standard input. They are stored in
// the plans, and go from there into the results. Stores nothing for a file that does not exist yet or that `prepare`
// may write.
void look_into_inputs(std::vector<model::Plan>& plans);

// Says whether our standard input is a file that is not read to its end, or a pipe or socket with bytes waiting.
[[nodiscard]] bool has_unread_input();

}  // namespace memsweep::app
