#include "core/sys/topology.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/base/printable.hpp"

namespace memsweep::sys {
namespace {

using Kind = TopologyPart::Kind;

void add_lines(const TopologyPart& part, const TopologyPart* parent, std::size_t depth, std::string& text)
{
    if (parent != nullptr && parent->parts.size() == 1 && part.has_all_processors) {
        text += " + ";
    } else {
        text += parent == nullptr ? "" : "\n";
        text.append(2 * depth, ' ');
        ++depth;
    }
    text += base::printable(part.label);
    for (const TopologyPart& inner : part.parts) {
        add_lines(inner, &part, depth, text);
    }
}

// The letters of a monospaced font of 11 pixels.
constexpr double letter_width = 6.7;
constexpr double line_height = 14;
constexpr double gap = 6;

const char* colour_of(Kind kind)
{
    switch (kind) {
    case Kind::machine:
    case Kind::cache:
    case Kind::processor:
    case Kind::other:
        return "#ffffff";
    case Kind::package:
        return "#dedede";
    case Kind::group:
        return "#f3f3f3";
    case Kind::node:
        return "#efdfde";
    case Kind::core:
        return "#bebebe";
    case Kind::bridge:
        return "#f7f7f7";
    case Kind::device:
        return "#d2e7a4";
    }
    return "#ffffff";
}

struct Box {
    const TopologyPart* part{};
    double x{};
    double y{};
    double width{};
    double height{};
    std::vector<Box> inner;
};

// What lies beside what: memory above, then processors and caches in rows, then devices in rows of their own.
int band_of(Kind kind)
{
    return kind == Kind::node ? 0 : kind == Kind::bridge || kind == Kind::device || kind == Kind::other ? 2 : 1;
}

// Up to eight in a row; more make a rectangle that is wider than high.
std::size_t columns_for(std::size_t boxes)
{
    constexpr std::size_t widest_row = 8;
    return boxes <= widest_row ? boxes
                               : static_cast<std::size_t>(std::ceil(std::sqrt(2.0 * static_cast<double>(boxes))));
}

Box box_of(const TopologyPart& part);

// Sets the boxes [first, end) of one band in rows below `top`; the height that they take.
double set_rows(std::vector<Box>& boxes, std::size_t first, std::size_t end, double top, double& width)
{
    const std::size_t columns = columns_for(end - first);
    double y = top;
    for (std::size_t row = first; row < end; row += columns) {
        double x = gap;
        double tallest = 0;
        for (std::size_t i = row; i < std::min(row + columns, end); ++i) {
            boxes[i].x = x;
            boxes[i].y = y;
            x += boxes[i].width + gap;
            tallest = std::max(tallest, boxes[i].height);
        }
        width = std::max(width, x);
        y += tallest + gap;
    }
    return y - top;
}

Box box_of(const TopologyPart& part)
{
    Box box{.part = &part,
            .width = static_cast<double>(part.label.size()) * letter_width + 2 * gap,
            .height = line_height + 2 * gap};
    for (const TopologyPart& inner : part.parts) {
        box.inner.push_back(box_of(inner));
    }
    std::ranges::stable_sort(box.inner, {}, [](const Box& inner) { return band_of(inner.part->kind); });
    for (std::size_t first = 0; first < box.inner.size();) {
        const int band = band_of(box.inner[first].part->kind);
        std::size_t end = first;
        while (end < box.inner.size() && band_of(box.inner[end].part->kind) == band) {
            ++end;
        }
        box.height += set_rows(box.inner, first, end, box.height, box.width);
        first = end;
    }
    return box;
}

std::string escaped(const std::string& text)
{
    std::string safe;
    for (const char letter : text) {
        safe += letter == '<'   ? "&lt;"
                : letter == '>' ? "&gt;"
                : letter == '&' ? "&amp;"
                : letter == '"' ? "&quot;"
                                : std::string(1, static_cast<unsigned char>(letter) < ' ' ? ' ' : letter);
    }
    return safe;
}

void add_box(const Box& box, double x, double y, std::string& svg)
{
    svg += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" stroke="#000000"/>)"
                       R"(<text x="{:.1f}" y="{:.1f}">{}</text>)"
                       "\n",
                       x, y, box.width, box.height, colour_of(box.part->kind), x + gap, y + gap + line_height - 3,
                       escaped(box.part->label));
    for (const Box& inner : box.inner) {
        add_box(inner, x + inner.x, y + inner.y, svg);
    }
}

}  // namespace

std::string text_of(const Topology& topology)
{
    std::string text;
    add_lines(topology.machine, nullptr, 0, text);
    return text + "\n";
}

std::string svg_of(const Topology& topology)
{
    const Box machine = box_of(topology.machine);
    std::string svg = fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.1f} {1:.1f}" )"
                                  R"(width="{0:.1f}" height="{1:.1f}" font-family="monospace" font-size="11">)"
                                  "\n",
                                  machine.width + 2, machine.height + 2);
    add_box(machine, 1, 1, svg);
    return svg + "</svg>\n";
}

}  // namespace memsweep::sys
