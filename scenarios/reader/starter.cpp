#include "scenarios/reader/starter.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/quantity.hpp"
#include "core/model/allocator.hpp"
#include "core/model/specs.hpp"
#include "core/model/step.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/source_tree.hpp"
#include "scenarios/reader/substitution.hpp"

namespace memsweep::scenarios {
namespace {

std::string json_text(std::string_view text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// ["refcount", "finalizer"]
std::string json_list(const std::vector<std::string>& words)
{
    std::vector<std::string> texts;
    std::ranges::transform(words, std::back_inserter(texts), json_text);
    return fmt::format("[{}]", fmt::join(texts, ", "));
}

// A text with what is to change in it, in any order.
class Edits {
  public:
    explicit Edits(std::string_view text) : text_{text}
    {
        for (std::size_t at = 0; at != std::string_view::npos;) {
            line_starts_.push_back(at);
            at = text.find('\n', at);
            at = at == std::string_view::npos ? at : at + 1;
        }
    }

    // The string that begins at `place`.
    void replace_string(const Place& place, std::string_view value)
    {
        const std::size_t begin = offset(place);
        std::size_t end = begin + 1;
        while (end < text_.size() && text_[end] != '"') {
            end += text_[end] == '\\' ? 2U : 1U;
        }
        changes_.push_back({begin, end + 1 - begin, json_text(value)});
    }

    void insert_above_line(const Place& place, std::string text)
    {
        changes_.push_back({line_starts_[place.line - 1], 0, std::move(text)});
    }

    // What stands before `place` on its line; empty unless those are blanks.
    [[nodiscard]] std::optional<std::string_view> indentation(const Place& place) const
    {
        const std::size_t begin = line_starts_[place.line - 1];
        const std::string_view before = text_.substr(begin, offset(place) - begin);
        return before.find_first_not_of(" \t") == std::string_view::npos ? std::optional{before} : std::nullopt;
    }

    [[nodiscard]] bool is_below_comment(const Place& place) const
    {
        if (place.line < 2) {
            return false;
        }
        const std::size_t begin = line_starts_[place.line - 2];
        const std::string_view above = text_.substr(begin, line_starts_[place.line - 1] - begin);
        const std::size_t first = above.find_first_not_of(" \t");
        return first != std::string_view::npos && above.substr(first).starts_with("//");
    }

    [[nodiscard]] std::string result()
    {
        std::ranges::stable_sort(changes_, {}, &Change::at);
        std::string changed;
        std::size_t copied = 0;
        for (const Change& change : changes_) {
            changed += text_.substr(copied, change.at - copied);
            changed += change.text;
            copied = change.at + change.length;
        }
        return changed += text_.substr(copied);
    }

  private:
    struct Change {
        std::size_t at;
        std::size_t length;
        std::string text;
    };

    // Columns count characters, of which UTF-8 has several bytes.
    [[nodiscard]] std::size_t offset(const Place& place) const
    {
        std::size_t at = line_starts_[place.line - 1];
        for (std::uint32_t column = 1; column < place.column && at < text_.size(); ++column) {
            do {
                ++at;
            } while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0U) == 0x80U);
        }
        return at;
    }

    std::string_view text_;
    std::vector<std::size_t> line_starts_;
    std::vector<Change> changes_;
};

// Null where there is none, or the value is no object or no list.
const SourceNode* member_of(const SourceNode* node, std::string_view key)
{
    const Object* const object = node == nullptr ? nullptr : node->as<Object>();
    return object == nullptr ? nullptr : find(*object, key);
}

const List* list_of(const SourceNode* node)
{
    return node == nullptr ? nullptr : node->as<List>();
}

void add_comment(const Place& place, std::string_view comment, Edits& edits)
{
    const auto indentation = edits.indentation(place);
    if (indentation && !edits.is_below_comment(place)) {
        edits.insert_above_line(place, fmt::format("{}// {}\n", *indentation, comment));
    }
}

// Above the first step of each operation: what it does.
void explain_steps(const SourceNode* steps, std::set<std::string>& explained, Edits& edits)
{
    const List* const list = list_of(steps);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const SourceNode& step = (*list)[i];
        const SourceNode* const op = member_of(&step, "op");
        const auto* const name = op == nullptr ? nullptr : op->as<std::string>();
        const auto known = name == nullptr ? model::operations().end()
                                           : std::ranges::find(model::operations(), *name, &model::OperationInfo::name);
        if (known != model::operations().end() && explained.insert(*name).second) {
            add_comment(step.place, fmt::format("{}: {}", known->name, known->meaning), edits);
        }
        explain_steps(member_of(&step, "steps"), explained, edits);
    }
}

// Above each key of the top level that begins a line, and above the steps.
void explain(const Object& top, Edits& edits)
{
    for (const OptionInfo& option : scenario_table().options()) {
        const auto member = std::ranges::find(top, option.name, &Member::key);
        const bool speaks_for_itself = option.name == "$schema" || option.name == "format" || option.name == "version";
        if (member != top.end() && !speaks_for_itself) {
            add_comment(member->key_place, fmt::format("{}: {}", option.name, option.help), edits);
        }
    }
    std::set<std::string> explained;
    explain_steps(find(top, "steps"), explained, edits);
}

std::string head_comment(const StarterLabels& labels)
{
    return fmt::format("// What memsweep is to measure: \"axes\" make cases, \"steps\" are what each case does, "
                       "\"assert\" must hold.\n"
                       "// Keys that are left out have their defaults.\n"
                       "//     check    memsweep validate {0}\n"
                       "//     measure  memsweep run {0} -o r.json   (-r html=r.html: a page with charts)\n"
                       "//     look up  memsweep list ops            (--json: every key of every step)\n",
                       labels.file);
}

// Has the paths of a scenario lead to the same files from another folder.
class Mover {
  public:
    Mover(const std::filesystem::path& new_file, Edits& edits) : folder_{new_file.parent_path()}, edits_{edits} {}

    void move(const Object& top)
    {
        const SourceNode* const include = find(top, "include");
        move_path(include);
        if (const List* const files = list_of(include)) {
            std::ranges::for_each(*files, [this](const SourceNode& file) { move_path(&file); });
        }
        // A profile without a folder is the name of one that ships.
        const SourceNode* const profile = member_of(find(top, "release"), "profile");
        const auto* const name = profile == nullptr ? nullptr : profile->as<std::string>();
        if (name != nullptr && (name->find('/') != std::string::npos || name->ends_with(".json"))) {
            move_path(profile);
        }
        move_traces(find(top, "steps"));
    }

  private:
    void move_traces(const SourceNode* steps)
    {
        const List* const list = list_of(steps);
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            move_path(member_of(&(*list)[i], "trace"));
            move_traces(member_of(&(*list)[i], "steps"));
        }
    }

    void move_path(const SourceNode* node)
    {
        const auto* const path = node == nullptr ? nullptr : node->as<std::string>();
        if (path == nullptr || has_placeholder(*path) || std::filesystem::path{*path}.is_absolute()) {
            return;
        }
        std::error_code problem;
        const auto folder = folder_.empty() ? std::filesystem::current_path(problem) : folder_;
        const auto moved = std::filesystem::proximate(beside(node->place, *path), folder, problem);
        if (!problem) {
            edits_.replace_string(node->place, moved.string());
        }
    }

    std::filesystem::path folder_;
    Edits& edits_;
};

void replace_label(const Object& top, std::string_view key, std::string_view value, Edits& edits)
{
    const SourceNode* const label = find(top, key);
    if (label != nullptr && label->as<std::string>() != nullptr && !value.empty()) {
        edits.replace_string(label->place, value);
    }
}

std::vector<model::ReleaseMode> modes_of(const StarterAnswers& answers)
{
    std::vector<model::ReleaseMode> modes;
    for (const std::string& name : answers.release) {
        if (const auto mode = model::value_of<model::ReleaseMode>(name)) {
            modes.push_back(*mode);
        }
    }
    return modes;
}

// With the parameters that the modes chosen have, so that there is something to change.
std::string release_keys(const StarterAnswers& answers)
{
    constexpr std::uint64_t least_stack_bytes = 64U << 10U;
    std::string keys = R"("mode": "${axis.mode}")";
    const auto modes = modes_of(answers);
    if (std::ranges::any_of(modes, [](auto mode) { return model::is_collected({.mode = mode}); })) {
        keys += R"(, "collect_every": 20)";
    }
    if (std::ranges::find(modes, model::ReleaseMode::deferred_batch) != modes.end()) {
        keys += R"(, "batch": 20)";
    }
    if (std::ranges::find(modes, model::ReleaseMode::stack) != modes.end()) {
        keys +=
            fmt::format(R"(, "stack": "{}")", base::exact_size(std::max(least_stack_bytes, 2 * answers.array_bytes)));
    }
    return keys;
}

// The axes, with what each of their values is.
std::string axes_text(const StarterAnswers& answers)
{
    std::string text = "  \"axes\": {\n";
    for (const model::ReleaseMode mode : modes_of(answers)) {
        const auto& row =
            *std::ranges::find(model::names<model::ReleaseMode>(), mode, &model::Named<model::ReleaseMode>::value);
        text += fmt::format("    // {}: {}\n", row.name, row.meaning);
    }
    text += fmt::format("    \"mode\": {}", json_list(answers.release));
    for (const std::string& allocator : answers.allocators) {
        if (const auto* const known = model::find_allocator(allocator)) {
            text += fmt::format("{}    // {}: {}", text.ends_with(']') ? ",\n" : "\n", known->name, known->meaning);
        }
    }
    if (!answers.allocators.empty()) {
        text += fmt::format("\n    \"allocator\": {}", json_list(answers.allocators));
    }
    return text + "\n  },\n";
}

// Under a mode that frees at the drop nothing is left after it.
std::string assert_text(const StarterAnswers& answers)
{
    const auto modes = modes_of(answers);
    const auto prompt = std::ranges::find_if(modes, [](model::ReleaseMode mode) {
        return family_of(mode) == model::ModeFamily::immediate || family_of(mode) == model::ModeFamily::counted;
    });
    return prompt == modes.end()
               ? ""
               : fmt::format(",\n  \"assert\": [\n    {{ \"where\": {{ \"mode\": \"{}\" }}, \"expr\": "
                             "\"after_loop.live_bytes.max == 0B\" }}\n  ]",
                             name_of(*prompt));
}

std::string plain_starter(const StarterAnswers& answers, const StarterLabels& labels)
{
    std::string text = "{\n";
    text += fmt::format("  \"$schema\": {},\n", json_text(labels.schema_path));
    text += "  \"format\": \"memsweep-scenario\",\n  \"version\": 1,\n";
    text += fmt::format("  \"name\": {},\n", json_text(labels.name));
    text += "  \"description\": \"Arrays are made, written and dropped in a loop: what each release mode costs.\",\n";
    text += fmt::format("  \"variables\": {{ \"times\": {}, \"size\": \"{}\" }},\n", answers.times,
                        base::exact_size(answers.array_bytes));
    text += fmt::format("  \"repetitions\": {},\n", answers.repetitions);
    text += axes_text(answers);
    text += fmt::format("  \"release\": {{ {} }},\n", release_keys(answers));
    text += R"(  "steps": [
    { "op": "repeat", "times": "${times}", "phase": "loop", "timed": true, "steps": [
      { "op": "scope", "steps": [
        { "op": "alloc", "as": "a", "bytes": "${size}", "touch": "full" },
        { "op": "drop", "target": "a" }
      ] }
    ] },
    { "op": "sample", "name": "after_loop" },
    { "op": "collect" },
    { "op": "drain" },
    { "op": "sample", "name": "after_drain" }
  ],
  "series": { "interval": "5ms" })";
    return text + assert_text(answers) + "\n}\n";
}

// Threads that allocate blocks of every size, then free them, in a loop.
std::string threaded_starter(const StarterAnswers& answers, const StarterLabels& labels)
{
    const std::vector<std::uint64_t> threads =
        answers.threads.empty() ? std::vector<std::uint64_t>{1, 2} : answers.threads;
    const std::vector<std::uint64_t> sizes =
        answers.mix_bytes.empty() ? std::vector{answers.array_bytes} : answers.mix_bytes;
    std::string text = "{\n";
    text += fmt::format("  \"$schema\": {},\n", json_text(labels.schema_path));
    text += "  \"format\": \"memsweep-scenario\",\n  \"version\": 1,\n";
    text += fmt::format("  \"name\": {},\n", json_text(labels.name));
    text += "  \"description\": \"Threads allocate and free blocks side by side: what the allocator costs them.\",\n";
    text += fmt::format("  \"variables\": {{ \"times\": {} }},\n", answers.times);
    text += fmt::format("  \"repetitions\": {},\n", answers.repetitions);
    text += fmt::format("  \"axes\": {{ \"threads\": [{}]", fmt::join(threads, ", "));
    text += answers.allocators.empty() ? "" : fmt::format(", \"allocator\": {}", json_list(answers.allocators));
    text += " },\n  \"memory\": { \"resource\": \"malloc\", \"accounting\": \"off\" },\n  \"steps\": [\n";
    text += "    { \"op\": \"parallel\", \"threads\": \"${axis.threads}\", \"phase\": \"mixed\", \"timed\": true, "
            "\"steps\": [\n      { \"op\": \"repeat\", \"times\": \"${times}\", \"steps\": [\n";
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        text += fmt::format("        {{ \"op\": \"alloc\", \"as\": \"block_{}\", \"bytes\": \"{}\" }},\n", i + 1,
                            base::exact_size(sizes[i]));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        text += fmt::format("        {{ \"op\": \"drop\", \"target\": \"block_{}\" }}{}\n", i + 1,
                            i + 1 < sizes.size() ? "," : "");
    }
    return text + "      ] }\n    ] }\n  ]\n}\n";
}

}  // namespace

base::Expected<std::string> scenario_copy(const std::string& path, std::string_view text, const StarterLabels& labels)
{
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    text.remove_prefix(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    Diagnostics diagnostics;
    Sources sources{diagnostics};
    const SourceNode* const root = sources.add(path, text);
    const Object* const top = root == nullptr ? nullptr : root->as<Object>();
    if (top == nullptr || diagnostics.count() > 0) {
        const auto errors = diagnostics.sorted();
        return base::fail(errors.empty()
                              ? base::Error{base::ErrorCode::invalid_input, "a scenario is a JSON object", path}
                              : errors.front());
    }
    Edits edits{text};
    replace_label(*top, "$schema", labels.schema_path, edits);
    replace_label(*top, "name", labels.name, edits);
    Mover{labels.file, edits}.move(*top);
    explain(*top, edits);
    return head_comment(labels) + edits.result();
}

std::string starter_scenario(const StarterAnswers& answers, const StarterLabels& labels)
{
    const bool has_blocks = !answers.threads.empty() || !answers.mix_bytes.empty();
    const std::string text = has_blocks ? threaded_starter(answers, labels) : plain_starter(answers, labels);
    return scenario_copy(labels.file, text, labels).value_or(text);
}

}  // namespace memsweep::scenarios
