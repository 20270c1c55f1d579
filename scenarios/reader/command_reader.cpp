#include "scenarios/reader/command_reader.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

bool has_nul(std::string_view text)
{
    return text.find('\0') != std::string_view::npos;
}

// A program's name with blanks in it is a line meant for a shell, unless a list says that it is one word.
void check_words(const Fields& fields, std::string_view key, const std::vector<std::string>& words, bool shell)
{
    const SourceNode* node = fields.raw(key);
    if (node == nullptr) {
        return;
    }
    if (std::ranges::any_of(words, has_nul)) {
        fields.complain(node->place, fmt::format("\"{}\" holds a character that no argument can have (U+0000)", key));
    } else if (words.empty() && node->as<List>() != nullptr && !node->as<List>()->empty()) {
        return;  // reported
    } else if (words.empty() || words.front().empty()) {
        fields.complain(node->place, fmt::format("\"{}\" names no program", key));
    } else if (shell && words.size() != 1) {
        fields.complain(node->place, fmt::format("\"{}\" must be one text with \"shell\": true: the script", key));
    } else if (!shell && node->as<std::string>() != nullptr && words.front().find(' ') != std::string::npos) {
        fields.complain(node->place, fmt::format("\"{}\" must be a list of words, as in [\"sort\", \"-n\"], or needs "
                                                 "\"shell\": true, not {}",
                                                 key, in_quotes(words.front())));
    }
}

model::Variables read_environment(const SourceNode& node, const Reading& reading)
{
    model::Variables variables;
    const Fields fields{node, "\"env\"", reading};
    fields.each([&](const Member& member) {
        auto text = read_text(member.value, fmt::format("{}", in_quotes(member.key)), reading);
        if (member.key.empty() || member.key.find('=') != std::string::npos || has_nul(member.key) ||
            (text && has_nul(*text))) {
            reading.diagnostics.add(member.key_place,
                                    fmt::format("{} cannot be a variable of an environment", in_quotes(member.key)));
        } else if (text) {
            variables.emplace_back(member.key, *std::move(text));
        }
    });
    std::ranges::sort(variables);
    return variables;
}

}  // namespace

model::CommandSpec read_command(const SourceNode& node, const Reading& reading)
{
    model::CommandSpec command;
    const Fields fields = read_object(node, "command", command_table(), reading, command);
    check_words(fields, "run", command.run, command.shell);
    check_words(fields, "prepare", command.prepare, command.shell);
    check_words(fields, "cleanup", command.cleanup, command.shell);
    for (const std::string_view key : {"stdin", "cwd", "stdout"}) {
        const SourceNode* text = fields.raw(key);
        const auto* path = text == nullptr ? nullptr : text->as<std::string>();
        if (path != nullptr && (path->empty() || has_nul(*path))) {
            fields.complain(text->place, fmt::format("\"{}\" is not the name of a file", key));
        }
    }
    if (const SourceNode* end = fields.raw("end_when")) {
        if (const auto text = read_text(*end, "\"end_when\"", reading)) {
            auto parsed = model::parse_end_of_work(*text);
            if (!parsed) {
                fields.complain(end->place, "\"end_when\": " + parsed.error().message);
            } else if (has_nul(parsed->text)) {
                fields.complain(end->place, "\"end_when\" holds a character that no text of a program has (U+0000)");
            } else if (parsed->sign == model::EndSign::line && command.output != model::output_discarded &&
                       command.output != model::output_piped && command.output != model::output_checksum) {
                fields.complain(end->place, "\"end_when\": a line is looked for in what memsweep reads: give "
                                            "\"stdout\": \"null\", \"pipe\" or \"checksum\"");
            } else {
                command.end = *std::move(parsed);
            }
        }
    }
    if (const SourceNode* environment = fields.raw("env")) {
        command.environment = read_environment(*environment, reading);
    }
    return command;
}

void refuse_beside_command(const Fields& top)
{
    constexpr std::array about_steps{std::string_view{"steps"}, std::string_view{"memory"}, std::string_view{"release"},
                                     std::string_view{"safety"}, std::string_view{"ranks"}};
    for (const std::string_view key : about_steps) {
        if (top.has(key)) {
            top.complain(top.place(key),
                         key == "steps" ? std::string{"a scenario has either \"steps\" or \"command\", not both"}
                                        : fmt::format("\"{}\" is about the arrays of steps: a command allocates for "
                                                      "itself",
                                                      key));
        }
    }
}

}  // namespace memsweep::scenarios
