#include "reporters/markdown/markdown_writer.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

bool is_word(char c)
{
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

// An underscore inside a word means nothing to GitHub, and names are full of them.
bool is_inside_word(std::string_view text, std::size_t at)
{
    return at > 0 && at + 1 < text.size() && is_word(text[at - 1]) && is_word(text[at + 1]);
}

// Whether this character of a line would begin a list, a heading, a quotation or a rule.
bool begins_block(std::string_view text, std::size_t at)
{
    constexpr std::string_view marks = "-+=";
    if (marks.find(text[at]) != std::string_view::npos) {
        return at == 0;
    }
    const bool ends_item = (text[at] == '.' || text[at] == ')') && (at + 1 == text.size() || text[at + 1] == ' ');
    return ends_item && at > 0 && text.find_first_not_of("0123456789") == at;
}

// An empty comment keeps two characters apart without being seen.
constexpr std::string_view apart = "<!-- -->";

void append_marked(std::string& out, std::string_view text, std::size_t at)
{
    const char c = text[at];
    switch (c) {
    case '<':
        out += "&lt;";
        return;
    case '>':
        out += "&gt;";
        return;
    case '&':
        out += "&amp;";
        return;
    // As entities, since not everyone who splits a row into cells, or looks for code, minds a backslash.
    case '|':
        out += "&#124;";
        return;
    case '`':
        out += "&#96;";
        return;
    case '@':
    case '#':
        out += c == '#' ? "\\#" : "@";
        out += apart;
        return;
    case ':':
        out += c;
        out += text.substr(at).starts_with("://") ? apart : std::string_view{};
        return;
    case '.':
        if (at >= 3 && (text.substr(at - 3, 3) == "www" || text.substr(at - 3, 3) == "WWW")) {
            out += apart;
        }
        break;
    default:
        break;
    }
    constexpr std::string_view active = "\\*[]~$!";
    const bool is_underscore = c == '_' && !is_inside_word(text, at);
    if (active.find(c) != std::string_view::npos || is_underscore || begins_block(text, at)) {
        out += '\\';
    }
    out += c;
}

constexpr std::size_t max_summary_rows = 200;
constexpr int widest_cell = 100;
constexpr int longest_sentence = 1000;

// A sign for the eye; the words beside it say the same.
std::string_view sign(Tone tone)
{
    constexpr std::array<std::string_view, 5> signs{"", "✓ ", "⚠ ", "✗ ", ""};  // in the order of Tone
    return signs[static_cast<std::size_t>(tone)];
}

// A cross, a tick or a question mark. What judges nothing has none.
std::string_view verdict_sign(Tone tone)
{
    return tone == Tone::caution ? "? " : tone == Tone::bad || tone == Tone::good ? sign(tone) : std::string_view{};
}

// Letters and digits alone, so that nothing ends the comment, mentions anybody, or is a command to the log of a CI
// service. Bytes of other scripts stay.
std::string comment_text(std::string_view marker)
{
    std::string text = inert_text(marker);
    for (char& c : text) {
        const auto byte = static_cast<unsigned char>(c);
        c = byte >= 0x80 || std::isalnum(byte) != 0 || c == ' ' || c == '.' ? c : '_';
    }
    return text;
}

class MarkdownWriter {
  public:
    explicit MarkdownWriter(const Document& content)
        : content_{content}, is_summary_{content.is_summary},
          has_notes_{content.is_summary || !content.comment_marker.empty()}
    {
    }

    // An empty line stands between any two parts, and its title above each table, unless what is above says it.
    [[nodiscard]] std::string text(const Blocks& blocks, bool is_titled = false) const
    {
        std::string out;
        for_each_shown(
            blocks, [](Weight weight) { return weight <= Weight::reference; },
            [&](const Block& block) {
                const auto* table = std::get_if<TableBlock>(&block.part);
                const auto* section = std::get_if<Section>(&block.part);
                const bool is_open = !is_folded(block);
                std::string part = section != nullptr && section->title.empty() && is_open
                                       ? text(section->blocks)
                                       : std::visit([this](const auto& one) { return this->text_of(one); }, block.part);
                if (!is_open) {
                    part = fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n",
                                       markdown_text(summary_of(block)), part);
                } else if (section != nullptr && !section->title.empty()) {
                    part = titled(section->title, part);
                } else if (table != nullptr && !is_titled) {
                    part = titled(table->table.title, part);
                }
                out += out.empty() || part.empty() ? "" : "\n";
                out += part;
                is_titled = std::holds_alternative<Heading>(block.part) || (is_titled && part.empty());
            });
        return out;
    }

  private:
    [[nodiscard]] bool is_folded(const Block& block) const
    {
        const auto* section = std::get_if<Section>(&block.part);
        const bool is_table_of_comment =
            !content_.comment_marker.empty() && section != nullptr && section->title.empty();
        const bool is_brief_one = block.weight == Weight::brief && section != nullptr && section->title.empty();
        return (is_table_of_comment || is_brief_one || block.weight == Weight::support ||
                block.weight == Weight::reference) &&
               !summary_of(block).empty();
    }

    [[nodiscard]] std::string titled(const std::string& title, const std::string& part) const
    {
        return text_of(Heading{title}) + "\n" + part;
    }

    [[nodiscard]] std::string text_of(const Opening& opening) const
    {
        const Tone tone = opening.headline.tone;
        std::string out = fmt::format("{} {}{}\n", is_summary_ ? "##" : "###",
                                      is_summary_ ? sign(tone) : verdict_sign(tone), sentence(opening.headline.text));
        const std::string about = is_summary_ && opening.about.empty() ? described() : opening.about;
        out += about.empty() ? "" : fmt::format("\n{}\n", sentence(about));
        out += opening.findings.empty() ? "" : "\n";
        for (const Statement& finding : opening.findings) {
            out += fmt::format("- {}{}\n", mark(tone_of(finding.importance)), sentence(finding.text));
            for (const std::string& further : finding.further) {
                out += fmt::format("  - {}\n", sentence(further));
            }
        }
        return out;
    }

    [[nodiscard]] std::string text_of(const Heading& heading) const
    {
        return fmt::format("{} {}\n", is_summary_ ? "###" : "####", cell(heading.text));
    }

    [[nodiscard]] std::string text_of(const Paragraph& paragraph) const { return sentence(paragraph.text) + "\n"; }

    [[nodiscard]] std::string text_of(const Items& list) const
    {
        std::string out;
        for (const Item& item : list.items) {
            add_item(out, item, "");
        }
        return out;
    }

    [[nodiscard]] std::string text_of(const Exclusions& list) const
    {
        std::string out;
        for (const Exclusion& one : list) {
            out += fmt::format("- {}{}: {}: {}\n", mark(one.tone), sentence(one.about), one.status, sentence(one.why));
        }
        return out;
    }

    [[nodiscard]] std::string text_of(const TableBlock& block) const
    {
        const Table& table = block.table;
        std::string titles = "|";
        std::string rules = "|";
        for (const Column& column : table.columns) {
            titles += fmt::format(" {} |", cell(column.title));
            rules += column.is_number ? " ---: |" : is_summary_ ? " :--- |" : " --- |";
        }
        std::string out = titles + "\n" + rules + "\n";
        std::size_t shown = is_summary_ ? std::min(table.rows.size(), max_summary_rows) : table.rows.size();
        shown = block.most_rows == 0 ? shown : std::min(shown, block.most_rows);
        for (std::size_t row = 0; row < shown; ++row) {
            out += row_text(table.rows[row]);
        }
        if (const std::size_t more = table.rows.size() - shown; more > 0) {
            out += fmt::format("\n{} more rows are not shown here; the JSON result has them.\n", more);
        }
        return out + (has_notes_ && !table.note.empty() ? fmt::format("\n{}\n", sentence(table.note)) : std::string{});
    }

    [[nodiscard]] std::string text_of(const Section& section) const { return text(section.blocks, true); }
    [[nodiscard]] static std::string text_of(const Later& /*for_each_shown makes it*/) { return {}; }
    [[nodiscard]] static std::string text_of(const Charts& /*drawn in a page*/) { return {}; }
    [[nodiscard]] static std::string text_of(const FlameGraph& /*drawn in a page*/) { return {}; }
    [[nodiscard]] static std::string text_of(const MemoryBar& /*drawn in a page*/) { return {}; }
    [[nodiscard]] static std::string text_of(const MemoryStrips& /*drawn in a page*/) { return {}; }
    [[nodiscard]] static std::string text_of(const Curves& /*drawn in a terminal*/) { return {}; }

    [[nodiscard]] static std::string text_of(const Omission& left_out)
    {
        return left_out.what + " are not shown here; the JSON result has them.\n";
    }

    [[nodiscard]] std::string text_of(const Facts& facts) const
    {
        if (facts.are_few) {
            std::vector<std::string> texts;
            for (const Fact& fact : facts.list) {
                texts.push_back(sentence(fmt::format("{}: {}", fact.name, fact.text)));
            }
            return listed(texts, "; ") + "\n";
        }
        std::string out = "| | |\n| :--- | :--- |\n";
        for (const Fact& fact : facts.list) {
            out += fmt::format("| {} | {} |\n", markdown_text(fact.name), sentence(fact.text));
        }
        return out;
    }

    [[nodiscard]] std::string text_of(const Warnings& warnings) const
    {
        std::string out;
        for (const WarningGroup& group : warnings) {
            const std::size_t more = group.warnings.size() - 1;
            out += fmt::format("- {}: {}{}{}\n", sentence(group.code), sentence(group.warnings.front()->message),
                               group.hint.empty() ? "" : "; " + sentence(group.hint),
                               more == 0 ? "" : fmt::format(" (and {} more like it)", more));
        }
        return out;
    }

    [[nodiscard]] std::string row_text(const std::vector<Cell>& row) const
    {
        std::string out = "|";
        for (const Cell& one : row) {
            const bool is_bold = !is_summary_ && (one.tone == Tone::bad || one.tone == Tone::good);
            const std::string_view quotes = is_bold ? "**" : "";
            out += fmt::format(" {}{}{}{} |", mark(one.tone), quotes, cell(one.text), quotes);
        }
        return out + "\n";
    }

    void add_item(std::string& out, const Item& item, const std::string& indent) const
    {
        out += fmt::format("{}- {}{}\n", indent, mark(item.tone), sentence(item.text));
        for (const Item& one : item.below) {
            add_item(out, one, indent + "  ");
        }
    }

    [[nodiscard]] std::string_view mark(Tone tone) const { return is_summary_ ? sign(tone) : std::string_view{}; }
    [[nodiscard]] std::string cell(std::string_view text) const { return shortened(text, widest_cell); }
    [[nodiscard]] std::string sentence(std::string_view text) const { return shortened(text, longest_sentence); }
    [[nodiscard]] std::string shortened(std::string_view text, int width) const
    {
        return markdown_text(is_summary_ ? elided(inert_text(text), width) : std::string{text});
    }

    [[nodiscard]] std::string described() const
    {
        return content_.title + (content_.description.empty() ? "" : ": " + content_.description);
    }

    const Document& content_;
    bool is_summary_;
    bool has_notes_;  // below tables
};

}  // namespace

std::string markdown_text(std::string_view text)
{
    const std::string inert = inert_text(text);
    const std::size_t begin = inert.find_first_not_of(' ');  // four blanks would make a block of code
    const std::string_view shown =
        begin == std::string::npos ? std::string_view{} : std::string_view{inert}.substr(begin);
    std::string out{begins_command(shown) ? apart : std::string_view{}};
    for (std::size_t at = 0; at < shown.size(); ++at) {
        append_marked(out, shown, at);
    }
    return out;
}

std::string to_markdown(const Document& content)
{
    const std::string text =
        (content.comment_marker.empty() ? ""
                                        : fmt::format("<!-- memsweep {} -->\n", comment_text(content.comment_marker))) +
        MarkdownWriter{content}.text(content.blocks);
    return content.is_summary ? text + "\n" : text;  // what comes next in a job's summary is not joined to it
}

}  // namespace memsweep::reporters
