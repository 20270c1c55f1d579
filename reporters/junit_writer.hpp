// A result as JUnit XML: a test suite per scenario, a test case per assertion.
//
// A case that crashed, timed out or was skipped is a test case named "runs", since no assertion speaks for it. An
// assertion of severity warn that does not hold passes, and says so in its output: a failure here is an exit code 1.
//
// Units    `time` in seconds: wall time of all repetitions of the case that a test case is about.
// Sources  github.com/testmoapp/junitxml; there is no official schema. GitLab shows `classname` and not the suite, so
//          that it carries the scenario: "churn.mode=refcount".
// Memory   one scenario's test cases, besides what the sink holds.
// Errors   none: characters that XML 1.0 cannot hold become U+FFFD.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text_sink.hpp"

namespace memsweep::reporters {

void write_junit(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
