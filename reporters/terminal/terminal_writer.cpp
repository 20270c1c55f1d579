#include "reporters/terminal/terminal_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reporters/terminal/terminal_curves.hpp"
#include "reporters/terminal/terminal_table.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

class TerminalWriter {
  public:
    explicit TerminalWriter(const TerminalStyle& style) : style_{style} {}

    void write(const Blocks& blocks)
    {
        for_each_shown(
            blocks, [this](Weight weight) { return is_shown(weight); },
            [this](const Block& block) {
                std::visit([this](const auto& part) { write(part); }, block.part);
                after_heading_ = std::holds_alternative<Heading>(block.part);
            });
    }
    [[nodiscard]] std::string finish() { return without_commands(out_); }

  private:
    [[nodiscard]] bool is_shown(Weight weight) const
    {
        return style_.verbose ? weight != Weight::brief && weight != Weight::appendix : weight <= Weight::brief;
    }

    void write(const Opening& opening)
    {
        if (!after_heading_) {
            add_gap();
        }
        out_ += paragraph(opening.headline.text, "", style_, opening.headline.tone);
        for (const Statement& finding : opening.findings) {
            out_ += paragraph(finding.text, "  * ", style_, tone_of(finding.importance));
            for (const std::string& further : finding.further) {
                out_ += paragraph(further, "    - ", style_, tone_of(finding.importance));
            }
        }
        out_ += paragraph(opening.about, "", style_, Tone::muted);
    }

    void write(const Heading& one)
    {
        add_gap();
        out_ += heading(elided(inert_text(one.text), usable_width(style_)), style_) + "\n";
        out_ += paragraph(one.about, "  ", style_);
    }

    void write(const Paragraph& one) { out_ += paragraph(one.text, one.mark, style_, one.tone); }

    void write(const Items& list)
    {
        for (const Item& item : list.items) {
            add_item(item, list.has_bullets ? "  * " : "  ", "    ");
        }
    }

    void write(const Exclusions& list)
    {
        for (const Exclusion& one : list) {
            out_ += paragraph(fmt::format("{}: {}: {}", one.about, one.status, one.why), "  ", style_, one.tone);
        }
    }

    void write(const TableBlock& block)
    {
        if (!block.is_joined) {
            add_gap();
        }
        const std::size_t rows = block.table.rows.size();
        if (style_.verbose || block.most_rows == 0 || rows <= block.most_rows) {
            out_ += table_text(block.table, style_);
            return;
        }
        Table cut = block.table;
        cut.rows.resize(block.most_rows);
        cut.note += fmt::format("{}{} of {}; -v shows all", cut.note.empty() ? "" : ": ", block.most_rows, rows);
        out_ += table_text(cut, style_);
    }

    void write(const Section& section)
    {
        if (!section.title.empty()) {
            write(Heading{section.title});
        }
        write(section.blocks);
    }

    void write(const Later& /*for_each_shown makes it*/) {}
    void write(const Charts& /*drawn in a page*/) {}
    void write(const FlameGraph& /*drawn in a page*/) {}
    void write(const MemoryBar& /*drawn in a page*/) {}
    void write(const MemoryStrips& /*drawn in a page*/) {}

    void write(const Curves& curves)
    {
        if (const std::string text = curves_text(curves, style_); !text.empty()) {
            add_gap();
            out_ += text;
        }
    }

    void write(const Facts& facts)
    {
        if (!facts.are_few) {
            for (const Fact& fact : facts.list) {
                out_ += paragraph(fmt::format("{}: {}", fact.name, fact.text), "  ", style_);
            }
            return;
        }
        add_gap();
        int width = 0;
        for (const Fact& fact : facts.list) {
            width = std::max(width, display_width(fact.name));
        }
        for (const Fact& fact : facts.list) {
            out_ += paragraph(fact.text, padded_right(fact.name, width + 2), style_);
        }
    }

    void write(const Omission& left_out)
    {
        add_gap();
        out_ += paragraph(left_out.what + " are not shown here; -v shows them.", "", style_);
    }

    void write(const Warnings& warnings)
    {
        constexpr std::size_t max_alike = 2;
        for (const WarningGroup& group : warnings) {
            const std::size_t shown =
                style_.verbose ? group.warnings.size() : std::min(group.warnings.size(), max_alike);
            for (std::size_t i = 0; i < shown; ++i) {
                out_ += paragraph(fmt::format("{}: {}", group.code, group.warnings[i]->message), "  ", style_,
                                  Tone::caution);
            }
            if (const std::size_t more = group.warnings.size() - shown; more > 0) {
                out_ += paragraph(fmt::format("{}: {} more like it; -v shows them", group.code, more), "  ", style_,
                                  Tone::caution);
            }
            out_ += paragraph(group.hint, "    ", style_);
        }
    }

    void add_item(const Item& item, const std::string& mark, const std::string& indent)
    {
        if (item.is_command) {
            out_ += mark + "$ " + inert_text(item.text) + "\n";
        } else {
            out_ += paragraph(item.text, mark, style_, item.tone);
        }
        for (const Item& one : item.below) {
            add_item(one, indent, indent + "  ");
        }
    }

    void add_gap() { out_ += out_.empty() ? "" : "\n"; }

    const TerminalStyle& style_;
    std::string out_;
    bool after_heading_{};
};

}  // namespace

std::string to_terminal(const Document& content, const TerminalStyle& style)
{
    TerminalWriter writer{style};
    writer.write(content.blocks);
    return writer.finish();
}

}  // namespace memsweep::reporters
