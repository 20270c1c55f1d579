#include "app/cli/completion.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"

namespace memsweep::app {
namespace {

constexpr std::string_view request = "--complete";

constexpr const char* bash_script = R"(# bash completion for PROGRAM, printed by `SOURCE bash`.

FUNCTION()
{
    local line word=${COMP_WORDS[COMP_CWORD]}
    # --option=value arrives as three words.
    if [[ $word == = ]]; then
        word=''
    fi
    COMPREPLY=()
    while IFS=$'\t' read -r line _; do
        if [[ $line == / ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
        else
            COMPREPLY+=("$line")
        fi
    done < <("${COMP_WORDS[0]/#\~/$HOME}" --complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$word" 2>/dev/null)
}

complete -F FUNCTION PROGRAM
)";

constexpr const char* fish_script = R"(# fish completion for PROGRAM, printed by `SOURCE fish`.

function _FUNCTION
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$word" 2>/dev/null)
        if test "$line" = /
            set -l option (string match -r -- '^--[^=]*=' $word)
            string replace -r -- '^' "$option" (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $word))
        else
            echo $line
        end
    end
end

complete -c PROGRAM -f -a '(_FUNCTION)'
)";

constexpr const char* zsh_script = R"(#compdef PROGRAM
# zsh completion for PROGRAM, printed by `SOURCE zsh`.

FUNCTION()
{
    local line files
    local -a described
    for line in "${(@f)$(${~words[1]} --complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
        case $line in
        /) files=yes ;;
        ?*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    if (( $#described )); then
        _describe PROGRAM described
    fi
    if [[ -n $files ]]; then
        compset -P '--*='
        _files
    fi
}

if [[ $funcstack[1] == FUNCTION ]]; then
    FUNCTION "$@"
else
    compdef FUNCTION PROGRAM
fi
)";

struct Shell {
    std::string_view name;
    const char* script;
};
constexpr std::array<Shell, 3> shells{{{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}}};

std::string with(std::string text, std::string_view mark, std::string_view what)
{
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + what.size())) {
        text.replace(at, mark.size(), what);
    }
    return text;
}

bool takes_file(const Option& option)
{
    return option.placeholder == "FILE" || option.placeholder == "RESULT";
}

// A command line up to the word that is being typed.
struct Typed {
    const Command& root;
    const Command* command{&root};
    const Option* awaiting{};       // the option whose value comes next
    std::size_t arguments{};        // that are no options' values
    std::set<std::string> given{};  // names of options

    void add(const std::string& word)
    {
        const std::size_t equals = word.find('=');
        if (awaiting != nullptr) {
            awaiting = word == "=" ? awaiting : nullptr;  // bash makes it a word of its own in --option=value
        } else if (word.starts_with('-')) {
            const Option* const option = find(*given.insert(word.substr(0, equals)).first);
            const bool takes_next = option != nullptr && equals == std::string::npos && !option->placeholder.empty() &&
                                    option->value.arity != Arity::at_most_one;
            awaiting = takes_next ? option : nullptr;
        } else if (command == &root && !root.commands.empty()) {
            const auto named = std::ranges::find(root.commands, word, &Command::name);
            command = named != root.commands.end() ? &*named : command;
        } else {
            ++arguments;
        }
    }

    [[nodiscard]] const Option* find(const std::string& name) const
    {
        for (const Command* owner : {command, &root}) {
            for (const Option& option : owner->options) {
                if (std::ranges::find(option.names, name) != option.names.end()) {
                    return &option;
                }
            }
        }
        return nullptr;
    }
};

// What can stand in place of `word`, the last one of a command line.
class Offer {
  public:
    Offer(const Typed& typed, const std::string& word)
    {
        const std::size_t equals = word.find('=');
        if (typed.awaiting != nullptr) {
            add_values(*typed.awaiting);
        } else if (word.starts_with("--") && equals != std::string::npos) {
            const Option* const option = typed.find(word.substr(0, equals));
            if (option != nullptr) {
                add_values(*option, word.substr(0, equals + 1));
            }
        } else if (word.starts_with('-')) {
            add_options(*typed.command, typed.given);
            add_options(typed.root, typed.given);
        } else {
            add_arguments(typed);
        }
    }

    // Those that begin with `word`.
    [[nodiscard]] std::string text(const std::string& word) const
    {
        std::string text;
        for (const auto& [offered, meaning] : words_) {
            text += offered.starts_with(word) ? fmt::format("{}\t{}\n", offered, meaning) : "";
        }
        return text + (files_ ? "/\n" : "");
    }

  private:
    void add_values(const Option& option, const std::string& before = "")
    {
        for (const std::string& word : option.look_up != nullptr ? option.look_up() : option.offered()) {
            words_.emplace(before + word, "");
        }
        files_ = takes_file(option);
    }

    void add_options(const Command& command, const std::set<std::string>& given)
    {
        const auto is_given = [&](const std::string& name) { return given.contains(name); };
        for (const Option& option : command.options) {
            if (option.is_repeatable() || std::ranges::none_of(option.names, is_given)) {
                for (const std::string& name : option.names) {
                    words_.emplace(name, option.help);
                }
            }
        }
    }

    void add_arguments(const Typed& typed)
    {
        const std::deque<Option>& positionals = typed.command->positionals;
        if (typed.command == &typed.root) {
            for (const Command& command : typed.root.commands) {
                words_.emplace(command.name, command.help);
            }
        }
        if (typed.arguments < positionals.size()) {
            add_values(positionals[typed.arguments]);
        } else if (!positionals.empty() && positionals.back().is_repeatable()) {
            add_values(positionals.back());
        }
    }

    std::map<std::string, std::string> words_;  // and what they mean
    bool files_{};
};

}  // namespace

OptionValue shell_name(std::string& target)
{
    return value::word(target, value::names_in(shells));
}

std::string completion_script(const Command& root, const std::string& shell)
{
    std::string function = "_" + root.name;
    std::ranges::replace(function, '-', '_');
    const std::string source = root.name + (root.commands.empty() ? " --completion" : " completion");
    const std::string script = std::ranges::find(shells, shell, &Shell::name)->script;
    return with(with(with(script, "FUNCTION", function), "SOURCE", source), "PROGRAM", root.name);
}

std::optional<std::string> completions(const Command& root, int argc, const char* const* argv)
{
    const std::span given{argv, static_cast<std::size_t>(argc)};
    if (given.size() < 3 || given[1] != request) {
        return std::nullopt;
    }
    Typed typed{.root = root};
    std::ranges::for_each(given.subspan(2, given.size() - 3), [&](const char* word) { typed.add(word); });
    return Offer{typed, given.back()}.text(given.back());
}

}  // namespace memsweep::app
