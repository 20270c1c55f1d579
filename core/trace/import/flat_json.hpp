// One line of JSON as a list of its plain values, each with its key and the object that holds it: what log lines need.
//
// Cost     about 1 ns a byte for what Umpire writes; lines with escapes or lists take nlohmann's parser, 10 times
//          longer.
// Memory   reused from line to line.
// Errors   parse() is false for what is not a JSON object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memsweep::trace {

class FlatJson {
  public:
    struct Member {
        std::string_view object;  // the key of the object it is in; empty for the line's own
        std::string_view key;
        std::string_view value;  // of a text without its quotes
    };

    // Values live as long as the line and until the next call.
    [[nodiscard]] bool parse(std::string_view line);
    // The value, or an empty text.
    [[nodiscard]] std::string_view get(std::string_view object, std::string_view key) const;

  private:
    bool scan(std::string_view line);
    bool scan_object(const char*& at, const char* end, std::string_view name);
    bool parse_slowly(std::string_view line);

    std::vector<Member> members_;
    std::vector<std::string> texts_;
};

}  // namespace memsweep::trace
