#include "reporters/html/html_writer.hpp"

#include <fmt/format.h>

#include "reporters/html/html_charts.hpp"
#include "reporters/html/html_page.hpp"
#include "reporters/html/html_table.hpp"
#include "reporters/text/html_text.hpp"

namespace memsweep::reporters {
namespace {

// A list without bullets; nothing of an empty one.
std::string list_html(const std::string& entries)
{
    return entries.empty() ? entries : "<ul class=\"plain\">\n" + entries + "</ul>\n";
}

std::string class_of(Tone tone)
{
    return tone == Tone::plain ? std::string{} : fmt::format(" class=\"{}\"", tone_class(tone));
}

class HtmlWriter {
  public:
    [[nodiscard]] std::string html(const Blocks& blocks)
    {
        std::string out;
        for (const Block& block : blocks) {
            out += std::visit([this](const auto& part) { return html_of(part); }, block.part);
        }
        return out;
    }
    [[nodiscard]] bool has_charts() const { return charts_ > 0; }

  private:
    static std::string html_of(const Opening& opening)
    {
        return verdict_html(opening.headline, opening.findings) +
               (opening.about.empty() ? "" : html_of(Paragraph{opening.about, Tone::muted}));
    }

    static std::string html_of(const Heading& heading) { return fmt::format("<h2>{}</h2>\n", escaped(heading.text)); }

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
        for (const Exclusion& one : list.cases) {
            entries += fmt::format("<li>{} <span class=\"{}\">{}</span><p>{}</p></li>\n", escaped(one.about),
                                   tone_class(one.tone), one.status, escaped(one.why));
        }
        return list_html(entries);
    }

    std::string html_of(const TableBlock& block)
    {
        const std::string id = block.id.empty() ? fmt::format("table-{}", ++tables_) : escaped(block.id);
        return table_html(block.table, id, {.is_tall = block.is_tall, .is_sortable = block.is_sortable});
    }

    std::string html_of(const Fold& fold)
    {
        const std::string_view kind = fold.kind == Fold::Kind::data      ? " class=\"data\""
                                      : fold.kind == Fold::Kind::section ? " class=\"more\""
                                                                         : "";
        return fmt::format("<details{}{}><summary>{}</summary>\n{}</details>\n", kind,
                           fold.id.empty() ? "" : fmt::format(" id=\"{}\"", escaped(fold.id)), escaped(fold.summary),
                           html(fold.blocks));
    }

    std::string html_of(const Charts& charts) { return charts_html(charts.sections, charts_); }
    static std::string html_of(const Curves& /*drawn in a terminal*/) { return {}; }
    static std::string html_of(const Facts& list) { return facts_html(list.facts); }

    static std::string html_of(const Warnings& warnings)
    {
        std::string entries;
        for (const WarningGroup& group : warnings.groups) {
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
};

}  // namespace

std::string to_html(const Document& content)
{
    HtmlWriter writer;
    std::string body = writer.html(content.blocks);
    return page_html({.kicker = content.kicker,
                      .title = content.title,
                      .description = content.description,
                      .body = std::move(body),
                      .with_charts = writer.has_charts()});
}

}  // namespace memsweep::reporters
