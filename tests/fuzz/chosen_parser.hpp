// Which of a target's parsers its inputs are for.
//
// Sources  MEMSWEEP_FUZZ_PARSER; the folder below corpus/ that holds the parser's inputs has the same name.
#pragma once

#include <cstdlib>
#include <string_view>

namespace memsweep::fuzz {

inline std::string_view chosen_parser()
{
    const char* const name = std::getenv("MEMSWEEP_FUZZ_PARSER");
    return name == nullptr ? std::string_view{} : name;
}

}  // namespace memsweep::fuzz
