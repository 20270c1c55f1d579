#include "core/base/command_words.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace memsweep::base {
namespace {

constexpr std::string_view operators = "<>|&;";

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
            } else if (operators.find(next) != std::string_view::npos) {
                return fail(ErrorCode::invalid_input,
                            fmt::format("{} is for a shell, and none reads this: --shell gives it to one, and quotes "
                                        "around {} make it a word of the program",
                                        next, next));
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

// "|", "2>", "&&", "2>&1", but neither "->" nor ">=".
bool is_operator(std::string_view word)
{
    word.remove_prefix(std::min(word.find_first_not_of("0123456789"), word.size()));
    const std::size_t rest = word.find_first_not_of(operators);
    if (rest == std::string_view::npos) {
        return !word.empty();
    }
    const std::string_view descriptor = word.substr(rest);
    return rest >= 2 && word[rest - 1] == '&' && (word[rest - 2] == '<' || word[rest - 2] == '>') &&
           (descriptor == "-" || descriptor.find_first_not_of("0123456789") == std::string_view::npos);
}

// find ends the program of -exec by a word ";".
bool is_of_find(const std::string& word)
{
    return word == "-exec" || word == "-execdir" || word == "-ok" || word == "-okdir";
}

}  // namespace

Expected<std::vector<std::string>> command_words(std::string_view text)
{
    return WordReader{text}.read();
}

std::string shell_word(const std::string& word)
{
    constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^";
    if (!word.empty() && word.find_first_not_of(safe) == std::string::npos) {
        return word;
    }
    std::string quoted = "'";
    for (const char c : word) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

std::string shell_operator(const std::vector<std::string>& words)
{
    const bool is_find = std::ranges::any_of(words, is_of_find);
    const auto found = std::ranges::find_if(
        words, [&](const std::string& word) { return is_operator(word) && !(is_find && word == ";"); });
    return found == words.end() ? std::string{} : *found;
}

}  // namespace memsweep::base
