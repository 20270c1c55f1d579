// Advice on a program's allocator as sentences, which are about the report as a whole and so stand beside it.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::reporters {

struct AdvisedProgram;

// "jemalloc, which it is linked with".
[[nodiscard]] std::string origin_text(const AdvisedProgram& program);

// The program that the allocator serves, or "it".
[[nodiscard]] std::string served_text(const AdvisedProgram& program);

// Why a setting is not the advice, by the word that JSON has: "slower" is "slower than allowed".
[[nodiscard]] std::string_view dropped_text(std::string_view word);

}  // namespace memsweep::reporters
