#include "core/base/command_words.hpp"

#include <optional>

#include <fmt/format.h>

namespace memsweep::base {
namespace {

class WordReader {
  public:
    explicit WordReader(std::string_view text) : rest_{text} {}

    Expected<std::vector<std::string>> read()
    {
        while (!rest_.empty()) {
            const char next = take();
            if (next == ' ' || next == '\t' || next == '\n') {
                end_word();
            } else if (next == '\'' || next == '"') {
                if (!read_quoted(next)) {
                    return fail(ErrorCode::invalid_input, fmt::format("a {} is not closed", next));
                }
            } else {
                word() += next == '\\' && !rest_.empty() ? take() : next;
            }
        }
        end_word();
        if (words_.empty()) {
            return fail(ErrorCode::invalid_input, "there is no program in it");
        }
        return std::move(words_);
    }

  private:
    char take()
    {
        const char next = rest_.front();
        rest_.remove_prefix(1);
        return next;
    }

    std::string& word() { return word_ ? *word_ : word_.emplace(); }

    void end_word()
    {
        if (word_) {
            words_.push_back(*std::move(word_));
            word_.reset();
        }
    }

    bool read_quoted(char quote)
    {
        constexpr std::string_view escapable = "\"\\$`";
        word();  // "" is a word too
        while (!rest_.empty()) {
            const char next = take();
            if (next == quote) {
                return true;
            }
            const bool escapes = quote == '"' && next == '\\' && !rest_.empty() &&
                                 escapable.find(rest_.front()) != std::string_view::npos;
            word() += escapes ? take() : next;
        }
        return false;
    }

    std::string_view rest_;
    std::optional<std::string> word_;
    std::vector<std::string> words_;
};

}  // namespace

Expected<std::vector<std::string>> command_words(std::string_view text)
{
    return WordReader{text}.read();
}

}  // namespace memsweep::base
