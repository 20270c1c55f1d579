// What a subject (a run, a comparison, a history ...) says, in the order in which it is read, before anyone decides how
// it looks. A subject makes one Document; terminal, Markdown and HTML render any Document.
//
// Ownership  Curves and Warnings point into the report that the document was made of.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/measure/verdict.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/table.hpp"
#include "reporters/wording/finding_words.hpp"

namespace memsweep::reporters {

enum class Medium { terminal, markdown, page };

// Who reads it: a terminal wants the findings, a page everything that may be folded away.
struct Audience {
    Medium medium{};
    bool verbose{};  // of a terminal: every case in every table
};

// What a reader wants to know first.
struct Headline {
    std::string text;  // one or two sentences
    Tone tone{Tone::plain};
};

struct Block;
using Blocks = std::vector<Block>;

struct Opening {
    Headline headline;
    std::vector<Statement> findings{};
    std::string about{};  // what was judged: "30 runs from ... to ..., on MACHINE"; may be empty
};

struct Heading {
    std::string text;
};

struct Paragraph {
    std::string text;
    Tone tone{Tone::plain};
    std::string mark{};  // in a terminal: before the first line, and as many blanks before the others
    bool is_apart{};     // in a terminal: behind an empty line
};

struct Item {
    std::string text;
    Tone tone{Tone::plain};
    std::vector<Item> below{};
    bool is_command{};  // to be copied: never broken
};
struct Items {
    std::vector<Item> items;
    bool has_bullets{};  // in a terminal
};

// Cases of which there is nothing to measure or to compare, and why.
struct Exclusion {
    std::string about;
    std::string status;
    Tone tone{Tone::plain};
    std::string why{};
};
using Exclusions = std::vector<Exclusion>;

struct TableBlock {
    Table table;
    std::string id{};    // in a page, of which it is unique; empty: a number is found
    bool is_tall{};      // in a page: scrolls downwards too
    bool is_sortable{};  // in a page: its headers sort it
    bool is_titled{};    // in Markdown: has its title above it
    bool is_joined{};    // in a terminal: no empty line before it
};

// What opens on demand, where there is something to click; a terminal shows it.
struct Fold {
    enum class Kind { data, section, plain };  // data: one table, whose title the summary is
    std::string summary;
    Blocks blocks;
    Kind kind{Kind::data};
    std::string id{};  // in a page
};

using Charts = std::vector<ChartSection>;  // drawn in a page

using Curves = Cases;  // their working sets, drawn in a terminal

// Where and how something came about.
struct Fact {
    std::string name;
    std::string text;
};
using Facts = std::vector<Fact>;

// Warnings that differ only in the case they name, brought together: a sweep of 400 cases may warn 400 times.
struct WarningGroup {
    std::string code;
    std::string hint;
    std::vector<const model::Warning*> warnings;  // at least one, in their order
};
using Warnings = std::vector<WarningGroup>;

struct Block {
    std::variant<Opening, Heading, Paragraph, Items, Exclusions, TableBlock, Fold, Charts, Curves, Facts, Warnings>
        part;
};

struct Document {
    std::string kicker{};  // of a page, above its title: what kind of page it is
    std::string title{};
    std::string description{};
    Blocks blocks{};
    // In Markdown: a job's summary has signs instead of bold words, notes below its tables, and leaves out rows beyond
    // what can be read there.
    bool is_summary{};

    template <typename Part>
    void add(Part part)
    {
        blocks.push_back({std::move(part)});
    }
};

[[nodiscard]] Tone tone_of(measure::Importance importance);
[[nodiscard]] Tone tone_of(measure::Verdict verdict);

[[nodiscard]] Cell verdict_cell(measure::Verdict verdict, std::string why = {});  // its word in its tone
[[nodiscard]] Cell verdict_cell(const model::AssertionResult& assertion);         // FAILED, warned, held, not evaluated

template <typename... Parts>
[[nodiscard]] Fold folded(std::string summary, Fold::Kind kind, Parts... parts)
{
    Fold fold{.summary = std::move(summary), .blocks = {}, .kind = kind};
    (fold.blocks.push_back({std::move(parts)}), ...);
    return fold;
}

// Of one table, under its title unless there is another summary.
[[nodiscard]] Fold folded(TableBlock table, std::string summary = {});

}  // namespace memsweep::reporters
