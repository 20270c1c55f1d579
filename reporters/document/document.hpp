// The content of a subject (a run, a comparison, a history ...) in reading order, without formatting. Each subject
// makes one Document. The writers of terminal text, Markdown and HTML render any Document. Each block has a weight, by
// which a writer decides whether to show the block, fold it away or leave it out.
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

// How much a block matters. The weight decides how the block appears (open, folded, or not at all):
//
//              terminal   with -v  Markdown   page
//   answer     open       open     open       open
//   support    open       open     folded     open     evidence for the answer
//   brief      open                open                a short form of the next block
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
    std::string about{};  // what the answer rests on: "30 runs from ... to ..., on node12"; may be empty
};

struct Heading {
    std::string text;
    std::string about{};  // the document's own description; shown only if no title has shown it
};

struct Paragraph {
    std::string text;
    Tone tone{Tone::plain};
    std::string mark{};  // a terminal puts it before the first line, and as many blanks before further lines
};

struct Item {
    std::string text;
    Tone tone{Tone::plain};
    std::vector<Item> below{};
    bool is_command{};  // a command to be copied: never broken into lines
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
    bool is_sortable{};       // in a page: a click on a header sorts the rows
    bool is_joined{};         // in a terminal: no empty line before it
    std::size_t most_rows{};  // rows to show if space is short (terminal without -v, Markdown); 0: all
};

// Blocks that are shown, folded away or left out together. A section without a title is headed by the title of its
// first table. A page never folds a section with a title. It folds a section without one, unless its weight is `answer`
// and it is among the first four such sections below a heading.
struct Section {
    std::string title;
    std::string summary{};  // shown while the section is folded; empty: the title
    Blocks blocks;
    std::string id{};  // in a page
};

// Blocks that are made only when a renderer shows them.
using Later = std::function<Blocks()>;

// Charts. A page draws all of them, and an SVG picture those of the first section; other writers leave them out.
struct Charts {
    std::string title;
    std::function<std::vector<ChartSection>()> sections;
};

// A tree of functions with the memory that each function itself asks for. Only a page draws it. Node 0 stands for the
// whole program. Callers come before the functions that they call.
struct FlameTree {
    struct Figure {
        std::string title;
        bool is_bytes{};
        std::vector<std::uint64_t> own{};  // by node
    };
    std::vector<std::string> names;
    std::vector<std::string> files;
    std::vector<std::uint32_t> parent{};  // parent, name, file and line are by node
    std::vector<std::uint32_t> name{};
    std::vector<std::uint32_t> file{};
    std::vector<std::uint32_t> line{};
    std::vector<Figure> figures{};
};
struct FlameGraph {
    std::function<FlameTree()> tree;
};

// One kind of memory as a part of the whole. In a page the kind decides the colour.
struct PartOfMemory {
    std::string kind;
    std::string name;
    std::string size;
    std::string exact;
    double share{};  // of the whole, 0..1
};
// Kinds of memory, drawn in a page as one bar with a legend.
struct MemoryBar {
    std::string title;
    std::string about;
    std::string spoken;  // for readers who cannot see it
    std::vector<PartOfMemory> parts{};
};
// An address space, drawn in a page as strips of cells in the order of addresses, with a table of the sizes.
struct MemoryStrips {
    struct Cell {
        std::string title;
        std::string gap_before;  // the gap of addresses before the cell, in words; empty: no gap
        std::vector<PartOfMemory> parts{};
    };
    struct Strip {
        std::string gap_before;
        std::string name;
        std::string size;
        std::string about;  // all that is known about the strip
        std::vector<Cell> cells{};
    };
    std::string title;
    std::string about;
    std::vector<Strip> strips{};
    Table table{};
};

using Curves = Cases;  // working sets of these cases, drawn in a terminal

// A fact about where the measured values come from, such as a machine or a command.
struct Fact {
    std::string name;
    std::string text;
};
struct Facts {
    std::vector<Fact> list;
    bool are_few{};  // terminal: after an empty line, one text per line; Markdown: all on one line
};

// Names the blocks of detail that follow. A report that leaves out these blocks shows this name instead: "Curves of 30
// cases".
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
    // For a comment on a merge request: the text by which a program finds the comment again to replace it. Markdown for
    // a comment has folded tables. Empty: the document is not a comment.
    std::string comment_marker{};

    template <typename Part>
    void add(Part part, Weight weight = {})
    {
        blocks.push_back({std::move(part), weight});
    }
    void add_table(TableBlock block, Weight weight = {});  // adds nothing if the table has no rows
    // Adds the call stack of a site, innermost frame first, at most 24 frames. Adds nothing if `frames` is empty.
    void add_stack(std::string_view site, std::span<const std::string> frames, Weight weight);
    void add_later(Weight weight, std::function<TableBlock()> table);  // adds nothing if the table has no rows
};

// The documents of runs and traces, whose reports are declared in other folders. Every other document is declared in
// the header of its report.
[[nodiscard]] Document document(const model::RunReport& report);
[[nodiscard]] Document document(const trace::TraceSummary& summary);

[[nodiscard]] Tone tone_of(measure::Importance importance);
[[nodiscard]] Tone tone_of(measure::Verdict verdict);

[[nodiscard]] Cell verdict_cell(measure::Verdict verdict, std::string why = {});  // the verdict's word, in its tone
[[nodiscard]] Cell verdict_cell(const model::AssertionResult& assertion);         // FAILED, warned, held, not evaluated

// Returns the text shown while the block is folded away; empty: the block is never folded.
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
