// Follows a JSON parser through the text and says where each token stands: nlohmann's SAX events carry values but no
// places, and its own counter stands behind the token, sometimes one character further.
//
// Cost     one pass over the text, kept in step with the parser.
// Errors   none: it is asked only for tokens that the parser accepted, and stays inside the text for any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memsweep::scenarios {

struct Token {
    std::size_t begin{};  // offset in the text
    std::size_t end{};
    std::uint32_t line{1};
    std::uint32_t column{1};
};

class Locator {
  public:
    explicit Locator(std::string_view text);

    // The next token: a string, number, literal or bracket; blanks, comments and, when `separators` is false, commas
    // and colons are passed over.
    Token next(bool separators = false);

    // The place of an offset that lies at or behind the last token.
    [[nodiscard]] Token at(std::size_t offset) const;

  private:
    void advance_to(std::size_t offset);
    void skip_blanks();
    bool skip_comment();
    [[nodiscard]] std::size_t token_end() const;
    [[nodiscard]] std::size_t string_end() const;

    std::string_view text_;
    std::size_t offset_{};
    std::uint32_t line_{1};
    std::uint32_t column_{1};
};

}  // namespace memsweep::scenarios
