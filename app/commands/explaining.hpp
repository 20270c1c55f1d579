// Explains the memory of a program that is stopped at its end, from what the kernel says of it and what the recorder
// has written until then.
//
// Cost     two readings of the trace, and some 10 ms for each GiB that is searched for pointers. The program is stopped
//          meanwhile.
// Errors   those of the recording, and of reading the process.
#pragma once

#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/stopped_end.hpp"
#include "reporters/document/explanation.hpp"

namespace memsweep::app {

struct ExplainedProgram {
    std::vector<std::string> command;
    std::string recorder;  // the library
    std::string folder;    // that it records to
};

[[nodiscard]] base::Expected<reporters::Explanation> explain_at_end(const ExplainedProgram& program,
                                                                    const sys::StoppedEnd& end);

}  // namespace memsweep::app
