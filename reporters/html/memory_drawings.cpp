#include "reporters/html/memory_drawings.hpp"

#include <fmt/format.h>

#include "reporters/html/html_table.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

std::string memory_key_html(const PartOfMemory& part)
{
    return fmt::format("<i class=\"memory-key m-{}\"></i>", part.kind);
}

// Kinds from the bottom up; what is left is not resident.
std::string filling(const MemoryStrips::Cell& cell)
{
    constexpr double nearly = 0.999;
    if (cell.parts.size() == 1 && cell.parts.front().share >= nearly) {
        return fmt::format(" class=\"m-{}\"", cell.parts.front().kind);
    }
    std::string stops;
    double from = 0;
    for (const PartOfMemory& part : cell.parts) {
        const double to = from + part.share * 100;
        stops += fmt::format(",var(--m-{}) {:.0f}% {:.0f}%", part.kind, from, to);
        from = to;
    }
    return fmt::format(" style=\"background-image:linear-gradient(0deg{},transparent {:.0f}%)\"", stops, from);
}

std::string memory_cell_html(const MemoryStrips::Cell& cell)
{
    const std::string gap =
        cell.gap_before.empty() ? std::string{} : fmt::format("<b title=\"{}\"></b>", escaped(cell.gap_before));
    return fmt::format("{}<i{} title=\"{}\"></i>", gap, filling(cell), escaped(cell.title));
}

std::string strip_html(const MemoryStrips::Strip& strip)
{
    std::string out = strip.gap_before.empty()
                          ? std::string{}
                          : fmt::format("<li class=\"memory-gap muted\">{}</li>\n", escaped(strip.gap_before));
    std::string cells;
    for (const MemoryStrips::Cell& cell : strip.cells) {
        cells += memory_cell_html(cell);
    }
    return out + fmt::format("<li tabindex=\"0\"><p class=\"memory-name\">{} <span class=\"muted\">{}</span></p>"
                             "<div class=\"memory-cells\" aria-hidden=\"true\">{}</div>"
                             "<p class=\"memory-about\">{}</p></li>\n",
                             escaped(strip.name), escaped(strip.size), cells, escaped(strip.about));
}

}  // namespace

std::string memory_bar_html(const MemoryBar& bar)
{
    std::string parts;
    std::string legend;
    for (const PartOfMemory& part : bar.parts) {
        const std::string name = escaped(part.name);
        parts += fmt::format("<i class=\"m-{}\" style=\"flex-grow:{:.5f}\" title=\"{}: {}, {:.1f} %\"></i>", part.kind,
                             part.share, name, escaped(part.exact), part.share * 100);
        legend += fmt::format("<li>{}{} <span><b>{}</b> <span class=\"muted\">{:.1f} %</span></span></li>\n",
                              memory_key_html(part), name, escaped(part.size), part.share * 100);
    }
    return fmt::format("<section class=\"memory\" aria-labelledby=\"memory-bar\">\n<h2 id=\"memory-bar\">{}</h2>\n"
                       "<p class=\"muted\">{}</p>\n<div class=\"memory-bar\" role=\"img\" aria-label=\"{}\">{}</div>\n"
                       "<ul class=\"memory-legend\">\n{}</ul>\n</section>\n",
                       escaped(bar.title), escaped(bar.about), escaped(bar.spoken), parts, legend);
}

std::string memory_strips_html(const MemoryStrips& strips)
{
    std::string list;
    for (const MemoryStrips::Strip& strip : strips.strips) {
        list += strip_html(strip);
    }
    return fmt::format(
        "<section class=\"memory\" aria-labelledby=\"memory-strips\">\n<h2 id=\"memory-strips\">{}</h2>\n"
        "<p class=\"muted\">{}</p>\n<ol class=\"memory-strips\">\n{}</ol>\n"
        "<details class=\"data\"><summary>The address space as a table</summary>\n{}</details>\n"
        "</section>\n",
        escaped(strips.title), escaped(strips.about), list,
        table_html(strips.table, "address-space", {.is_tall = true, .is_sortable = true}));
}

}  // namespace memsweep::reporters
