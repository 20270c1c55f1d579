// An explanation of the memory of a program that stands at its end, made of what the kernel says of it and of what the
// recorder has written until then.
//
// Cost     reading the trace twice, and some 10 ms a GiB of memory that is looked through for pointers. The program stands
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
