#include "core/model/end_of_work.hpp"

#include <regex>

#include <fmt/format.h>

namespace memsweep::model {

base::Expected<EndOfWork> parse_end_of_work(std::string_view text)
{
    constexpr std::string_view file = "file:";
    constexpr std::string_view line = "line:";
    if (text == "signal") {
        return EndOfWork{.sign = EndSign::signal, .text = {}};
    }
    if (text == "exit") {
        return EndOfWork{.sign = EndSign::exit, .text = {}};
    }
    if (text.starts_with(file) && text.size() > file.size()) {
        return EndOfWork{.sign = EndSign::file, .text = std::string{text.substr(file.size())}};
    }
    if (text.starts_with(line) && text.size() > line.size()) {
        EndOfWork end{.sign = EndSign::line, .text = std::string{text.substr(line.size())}};
        try {
            static_cast<void>(std::regex{end.text});
        } catch (const std::regex_error& problem) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("\"{}\" is no regular expression: {}", end.text, problem.what()));
        }
        return end;
    }
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("takes file:PATH, line:REGEX, signal or exit, not \"{}\"", text));
}

std::string to_text(const EndOfWork& end)
{
    switch (end.sign) {
    case EndSign::none:
        break;
    case EndSign::exit:
        return "exit";
    case EndSign::file:
        return "file:" + end.text;
    case EndSign::line:
        return "line:" + end.text;
    case EndSign::signal:
        return "signal";
    }
    return {};
}

}  // namespace memsweep::model
