// The content of a subject (a run, a comparison, a history ...) in reading order, without its looks. A subject makes
// one Document, in which each block has a weight. Terminal, Markdown and HTML render any Document. By the weights they
// decide what to show, fold away or leave out.
//
// Ownership  Curves, Charts, Later and Warnings point into the report from which the document was made.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/measure/verdict.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/table.hpp"
#include "reporters/wording/finding_words.hpp"

namespace memsweep::trace {
struct TraceSummary;
}

namespace memsweep::reporters {

// How much a block matters. It decides where the block appears (open, folded, or not at all):
//
//              terminal   with -v  Markdown   page
//   answer     open       open     open       open
//   support    open       open     folded     open     evidence for the answer
//   brief      open                open                a short form of the block that follows
//   reference             open     folded     open     to look up
//   detail                open                folded
//   appendix                                  open     if there is room for everything
enum class Weight { answer, support, brief, reference, detail, appendix };

// The answer that a reader wants first.
struct Headline {
    std::string text;  // one or two sentences
    Tone tone{Tone::plain};
};

struct Block;
using Blocks = std::vector<Block>;

struct Opening {
    Headline headline;
    std::vector<Statement> findings{};
    std::string about{};  // what it rests on: "30 runs from ... to ..., on MACHINE"; may be empty
};

struct Heading {
    std::string text;
    std::string about{};  // the document's own description, shown if no title has shown it
};

struct Paragraph {
    std::string text;
    Tone tone{Tone::plain};
    std::string mark{};  // in a terminal: starts the first line; the others start with as many blanks
};

struct Item {
    std::string text;
    Tone tone{Tone::plain};
    std::vector<Item> below{};
    bool is_command{};  // to be copied: never broken into lines
};
struct Items {
    std::vector<Item> items;
    bool has_bullets{};  // in a terminal
};

// Cases that were not measured or not compared, and why.
struct Exclusion {
    std::string about;
    std::string status;
    Tone tone{Tone::plain};
    std::string why{};
};
using Exclusions = std::vector<Exclusion>;

struct TableBlock {
    Table table;
    std::string id{};         // unique in a page; empty: the page numbers it
    bool is_sortable{};       // in a page: its headers sort it
    bool is_joined{};         // in a terminal: no empty line before it
    std::size_t most_rows{};  // shown if space is short (a terminal without -v, Markdown); 0: all
};

// Blocks that are shown, folded away or left out together. A section without a title is about its first table. If such
// a section can be folded, it is open only if it is an answer; a page opens only the first few of these.
struct Section {
    std::string title;
    std::string summary{};  // shown while it is folded; empty: the title
    Blocks blocks;
    std::string id{};  // in a page
};

// Blocks that are made only when a renderer shows them.
using Later = std::function<Blocks()>;

// Drawn in a page alone.
struct Charts {
    std::string title;
    std::function<std::vector<ChartSection>()> sections;
};

// A tree of functions with the memory that each function itself asks for, drawn in a page. Node 0 stands for the whole
// program. Callers come before the functions that they call.
struct FlameTree {
    struct Figure {
        std::string title;
        bool is_bytes{};
        std::vector<std::uint64_t> own{};  // by node
    };
    std::vector<std::string> names;
    std::vector<std::string> files;
    std::vector<std::uint32_t> parent{};  // by node, like the next three
    std::vector<std::uint32_t> name{};
    std::vector<std::uint32_t> file{};
    std::vector<std::uint32_t> line{};
    std::vector<Figure> figures{};
};
struct FlameGraph {
    std::function<FlameTree()> tree;
};

// The share of a whole that one kind of memory takes. In a page the kind decides the colour.
struct PartOfMemory {
    std::string kind;
    std::string name;
    std::string size;
    std::string exact;
    double share{};  // of the whole, 0..1
};
// Drawn in a page as one bar, with its legend.
struct MemoryBar {
    std::string title;
    std::string about;
    std::string spoken;  // for readers who cannot see it
    std::vector<PartOfMemory> parts{};
};
// An address space in the order of its addresses, drawn in a page as strips of cells, with a table of the figures.
struct MemoryStrips {
    struct Cell {
        std::string title;
        std::string gap_before;  // the gap before the cell, in words; empty: none
        std::vector<PartOfMemory> parts{};
    };
    struct Strip {
        std::string gap_before;
        std::string name;
        std::string size;
        std::string about;  // all that is known about it
        std::vector<Cell> cells{};
    };
    std::string title;
    std::string about;
    std::vector<Strip> strips{};
    Table table{};
};

using Curves = Cases;  // working sets of these cases, drawn in a terminal

// A fact about the origin of the figures, such as a machine or a command.
struct Fact {
    std::string name;
    std::string text;
};
struct Facts {
    std::vector<Fact> list;
    bool are_few{};  // terminal: after an empty line, one text per line; Markdown: all on one line
};

// Names the detail that follows, for reports that leave it out: "Curves of 30 cases".
struct Omission {
    std::string what;
};

// Warnings that differ only in the case that they name. A sweep of 400 cases may give the same warning 400 times.
struct WarningGroup {
    std::string code;
    std::string hint;
    std::vector<const model::Warning*> warnings;  // at least one, in their original order
};
using Warnings = std::vector<WarningGroup>;

struct Block {
    std::variant<Opening, Heading, Paragraph, Items, Exclusions, TableBlock, Section, Later, Charts, FlameGraph,
                 MemoryBar, MemoryStrips, Curves, Facts, Omission, Warnings>
        part;
    Weight weight{};
};

struct Document {
    std::string kicker{};  // the kind of document, above its title
    std::string title{};
    std::string description{};
    Blocks blocks{};
    // For the summary page of a CI job: Markdown with signs instead of bold words, notes below tables, and a limited
    // number of rows.
    bool is_summary{};
    // For a comment on a merge request: the text by which a program finds the comment again to renew it. In such
    // Markdown, tables are folded. Empty: the document is no comment.
    std::string comment_marker{};

    template <typename Part>
    void add(Part part, Weight weight = {})
    {
        blocks.push_back({std::move(part), weight});
    }
    void add_table(TableBlock block, Weight weight = {});  // nothing if it has no rows
    // The call stack of a site, innermost frame first, at most 24 frames. Adds nothing without frames.
    void add_stack(std::string_view site, std::span<const std::string> frames, Weight weight);
    void add_later(Weight weight, std::function<TableBlock()> table);  // nothing if its table has no rows
};

// The documents of subjects that other folders declare. The headers of the other subjects declare theirs.
[[nodiscard]] Document document(const model::RunReport& report);
[[nodiscard]] Document document(const trace::TraceSummary& summary);

[[nodiscard]] Tone tone_of(measure::Importance importance);
[[nodiscard]] Tone tone_of(measure::Verdict verdict);

[[nodiscard]] Cell verdict_cell(measure::Verdict verdict, std::string why = {});  // its word in its tone
[[nodiscard]] Cell verdict_cell(const model::AssertionResult& assertion);         // FAILED, warned, held, not evaluated

// The text shown while the block is folded away; empty: the block is never folded.
[[nodiscard]] std::string summary_of(const Block& block);

// Calls `show` with each block whose weight is shown. Makes the blocks of a Later only if its weight is shown.
template <typename IsShown, typename Show>
void for_each_shown(const Blocks& blocks, IsShown is_shown, Show show)
{
    for (const Block& block : blocks) {
        if (!is_shown(block.weight)) {
            continue;
        }
        if (const auto* later = std::get_if<Later>(&block.part)) {
            for_each_shown((*later)(), is_shown, show);
        } else {
            show(block);
        }
    }
}

}  // namespace memsweep::reporters
