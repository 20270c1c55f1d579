// Parts of sentences about advice on a program's allocator. They need the whole report, so they are declared here, and
// not with the other words in reporters/wording.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::reporters {

struct AdvisedProgram;

// Says whose allocator the program has: "jemalloc, which it is linked with".
[[nodiscard]] std::string origin_text(const AdvisedProgram& program);

// Names the one program that the allocator serves. Returns "it" if the allocator serves all programs that the command
// runs.
[[nodiscard]] std::string served_text(const AdvisedProgram& program);

// Says why a setting is not the advice. Turns the word that JSON uses into words for people, such as "slower" into
// "slower than allowed".
[[nodiscard]] std::string_view dropped_text(std::string_view word);

}  // namespace memsweep::reporters
