#include "reporters/html/html_writer.hpp"

#include <fmt/format.h>

#include "reporters/html/chart_writers.hpp"
#include "reporters/html/glossary_html.hpp"
#include "reporters/html/html_table.hpp"
#include "reporters/html/memory_drawings.hpp"
#include "reporters/html/page_assets.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

std::string head_html(const Document& content, const PageScripts& scripts)
{
    return fmt::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"color-scheme\" content=\"light dark\">\n"
                       "<title>{} · memsweep</title>\n<style>{}</style>\n</head>\n",
                       content_policy(scripts), escaped(content.title), style_sheet());
}

std::string header_html(const Document& content)
{
    return fmt::format("<header>\n<p>{}</p>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n", escaped(content.kicker),
                       escaped(content.title), escaped(content.description));
}

std::string class_of(Tone tone)
{
    return tone == Tone::plain ? std::string{} : fmt::format(" class=\"{}\"", tone_class(tone));
}

// Findings of one kind: those beyond the first few open on demand.
struct Folded {
    std::size_t most{};
    std::size_t count{};
    std::string rest;
};

std::string folded_html(const Folded& folded, std::string_view what)
{
    return folded.rest.empty() ? std::string{}
                               : fmt::format("<details><summary>{} {}</summary>\n<ul>\n{}</ul>\n</details>\n",
                                             folded.count - folded.most, what, folded.rest);
}

std::string finding_html(const Statement& finding)
{
    std::string further;
    for (const std::string& part : finding.further) {
        further += fmt::format("<li>{}</li>\n", escaped(part));
    }
    const std::string list = further.empty() ? further : "\n<ul>\n" + further + "</ul>\n";
    return fmt::format("<li{}>{}{}</li>\n", class_of(tone_of(finding.importance)), escaped(finding.text), list);
}

// The headline and the findings in their order; beyond a few of a kind they open on demand, so that the first screen
// has the first of each.
std::string verdict_html(const Headline& line, const std::vector<Statement>& findings)
{
    constexpr std::size_t most_alarms = 4;
    constexpr std::size_t most_notes = 3;
    std::string items;
    Folded alarms{.most = most_alarms};
    Folded notes{.most = most_notes};
    for (const Statement& finding : findings) {
        Folded& kind = finding.importance == measure::Importance::note ? notes : alarms;
        (++kind.count > kind.most ? kind.rest : items) += finding_html(finding);
    }
    const std::string list = items.empty() ? items : "<ul>\n" + items + "</ul>\n";
    return fmt::format("<section class=\"verdict {}\">\n<h2>{}</h2>\n{}{}{}</section>\n", tone_class(line.tone),
                       escaped(line.text), list, folded_html(alarms, "more that went wrong"),
                       folded_html(notes, notes.count == notes.most + 1 ? "more finding" : "more findings"));
}

std::string facts_html(const std::vector<Fact>& facts)
{
    std::string out = "<dl>\n";
    for (const Fact& fact : facts) {
        const bool is_code = fact.name == "Command";
        const std::string text = is_code ? fmt::format("<code>{}</code>", escaped(fact.text)) : escaped(fact.text);
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(fact.name), text);
    }
    return out + "</dl>\n";
}

// A list without bullets; nothing of an empty one.
std::string list_html(const std::string& entries)
{
    return entries.empty() ? entries : "<ul class=\"plain\">\n" + entries + "</ul>\n";
}

class HtmlWriter {
  public:
    [[nodiscard]] std::string html(const Blocks& blocks)
    {
        std::string out;
        for_each_shown(
            blocks, [](Weight weight) { return weight != Weight::brief; },
            [&](const Block& block) {
                const bool is_folded = this->is_folded(block);
                const std::string part = std::visit([this](const auto& one) { return this->html_of(one); }, block.part);
                out += is_folded ? fold_html(block, part) : part;
            });
        return out;
    }
    [[nodiscard]] PageScripts scripts() const { return {charts_ > 0, has_flame_graph_}; }

  private:
    // Whether a part is folded. A section without a title is open if it is an answer, among the first few below a
    // heading.
    bool is_folded(const Block& block)
    {
        constexpr std::size_t most_open = 4;
        if (const auto* section = std::get_if<Section>(&block.part); section != nullptr) {
            return section->title.empty() && (block.weight != Weight::answer || ++open_sections_ > most_open);
        }
        return std::holds_alternative<TableBlock>(block.part) && block.weight == Weight::detail;
    }

    static std::string fold_html(const Block& block, const std::string& part)
    {
        const auto* section = std::get_if<Section>(&block.part);
        const std::string id =
            section == nullptr || section->id.empty() ? std::string{} : fmt::format(" id=\"{}\"", escaped(section->id));
        return fmt::format("<details class=\"{}\"{}><summary>{}</summary>\n{}</details>\n",
                           section == nullptr ? "data" : "more", id, escaped(summary_of(block)), part);
    }

    static std::string html_of(const Opening& opening)
    {
        return verdict_html(opening.headline, opening.findings) +
               (opening.about.empty() ? "" : html_of(Paragraph{opening.about, Tone::muted}));
    }

    std::string html_of(const Heading& heading)
    {
        open_sections_ = 0;
        return fmt::format("<h2>{}</h2>\n", escaped(heading.text));
    }

    static std::string html_of(const Paragraph& paragraph)
    {
        return fmt::format("<p{}>{}</p>\n", class_of(paragraph.tone), escaped(paragraph.text));
    }

    static std::string html_of(const Items& list)
    {
        std::string entries;
        for (const Item& item : list.items) {
            entries += fmt::format("<li{}>{}{}</li>\n", class_of(item.tone), escaped(item.text), below_html(item));
        }
        return list_html(entries);
    }

    static std::string html_of(const Exclusions& list)
    {
        std::string entries;
        for (const Exclusion& one : list) {
            entries += fmt::format("<li>{} <span{}>{}</span><p>{}</p></li>\n", escaped(one.about), class_of(one.tone),
                                   one.status, escaped(one.why));
        }
        return list_html(entries);
    }

    std::string html_of(const TableBlock& block)
    {
        const std::string id = block.id.empty() ? fmt::format("table-{}", ++tables_) : escaped(block.id);
        constexpr std::size_t most_rows = 40;  // beyond these, what is below would be out of sight
        return table_html(
            block.table, id,
            {.is_tall = block.is_sortable && block.table.rows.size() > most_rows, .is_sortable = block.is_sortable});
    }

    std::string html_of(const Section& section)
    {
        return (section.title.empty() ? "" : html_of(Heading{section.title})) + html(section.blocks);
    }

    std::string html_of(const Charts& charts)
    {
        const std::string drawn = charts_html(charts.sections(), charts_);
        return (drawn.empty() || charts.title.empty() ? "" : html_of(Heading{charts.title})) + drawn;
    }
    std::string html_of(const FlameGraph& graph)
    {
        has_flame_graph_ = true;
        return html_of(Heading{"Flame graph"}) + flame_graph_html(graph.tree());
    }
    static std::string html_of(const MemoryBar& bar) { return memory_bar_html(bar); }
    static std::string html_of(const MemoryStrips& strips) { return memory_strips_html(strips); }
    static std::string html_of(const Later& /*for_each_shown makes it*/) { return {}; }
    static std::string html_of(const Omission& /*a page leaves nothing out*/) { return {}; }
    static std::string html_of(const Curves& /*drawn in a terminal*/) { return {}; }
    static std::string html_of(const Facts& facts) { return facts_html(facts.list); }

    static std::string html_of(const Warnings& warnings)
    {
        std::string entries;
        for (const WarningGroup& group : warnings) {
            entries += warning_html(group);
        }
        return list_html(entries);
    }

    static std::string below_html(const Item& item)
    {
        std::string out;
        for (const Item& one : item.below) {
            const std::string text = escaped(one.text);
            out += fmt::format("<p>{}</p>{}", one.is_command ? fmt::format("<code>{}</code>", text) : text,
                               below_html(one));
        }
        return out;
    }

    // The first of a kind in the open, the others behind it.
    static std::string warning_html(const WarningGroup& group)
    {
        std::string out = fmt::format("<li><span class=\"caution\">{}</span>: {}", escaped(group.code),
                                      escaped(group.warnings.front()->message));
        out += group.hint.empty() ? std::string{} : fmt::format("<p class=\"muted\">{}</p>", escaped(group.hint));
        if (group.warnings.size() > 1) {
            out += fmt::format("<details><summary>{} more like it</summary>\n", group.warnings.size() - 1);
            for (std::size_t i = 1; i < group.warnings.size(); ++i) {
                out += fmt::format("<p>{}</p>\n", escaped(group.warnings[i]->message));
            }
            out += "</details>";
        }
        return out + "</li>\n";
    }

    std::size_t charts_{};
    std::size_t tables_{};
    std::size_t open_sections_{};
    bool has_flame_graph_{};
};

}  // namespace

std::string to_html(const Document& content)
{
    HtmlWriter writer;
    const std::string body = writer.html(content.blocks);
    return head_html(content, writer.scripts()) + "<body>\n" + header_html(content) + "<main>\n" + body +
           glossary_html(body) +
           "</main>\n<footer>Every figure is in the JSON result that this page was made from.</footer>\n" +
           scripts_html(writer.scripts()) + "</body>\n</html>\n";
}

}  // namespace memsweep::reporters
