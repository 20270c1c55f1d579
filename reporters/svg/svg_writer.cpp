#include "reporters/svg/svg_writer.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "reporters/document/chart.hpp"
#include "reporters/document/picture.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

constexpr double width = 760;
constexpr double margin = 16;
constexpr double letter = 6.7;  // of 12 pixels on average, on the wide side: the viewer chooses the font
constexpr double line_height = 16;
constexpr int columns = static_cast<int>((width - 2 * margin) / letter);

constexpr std::string_view style = R"(<style>
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;fill:#1a2129}
.title{font-size:15px;font-weight:600}.muted{fill:#55606d}.bad{fill:#ae1f17;font-weight:600}.end{text-anchor:end}.mid{text-anchor:middle}
.ground{fill:#fff}.cell{fill:#1f5fa8}.line{stroke:#d8dee6}.reference{stroke:#55606d;stroke-dasharray:4 3}.limit{stroke:#55606d;stroke-width:2}
.dot{fill:#1f5fa8;stroke:#1f5fa8;stroke-width:2}.dot.bad{fill:#ae1f17;stroke:#ae1f17}.dot.good{fill:#17653a;stroke:#17653a}
@media (prefers-color-scheme:dark){text{fill:#e4e9ee}.muted{fill:#a3aeba}.bad{fill:#ff8f85}.ground{fill:#14181d}.cell{fill:#6fb1f5}
.line{stroke:#323a44}.reference,.limit{stroke:#a3aeba}.dot{fill:#6fb1f5;stroke:#6fb1f5}.dot.bad{fill:#ff8f85;stroke:#ff8f85}
.dot.good{fill:#6ccf94;stroke:#6ccf94}}
</style>
)";

double width_of(std::string_view text)
{
    return display_width(text) * letter;
}

class SvgWriter {
  public:
    void draw(const Chart& chart)
    {
        y_ += y_ > margin ? line_height : 0;
        text(margin, y_ += line_height, "title", elided(inert_text(chart.title), columns * 3 / 4));
        if (chart.about != about_) {
            for (const std::string& line : wrapped(inert_text(chart.about), columns)) {
                text(margin, y_ += line_height, "muted", line);
            }
            about_ = chart.about;
        }
        y_ += line_height;
        std::visit([this](const auto& picture) { this->draw_picture(picture); }, chart.picture);
        spoken_ += (spoken_.empty() ? "" : " ") + chart.spoken;
    }

    void say(const std::string& title, const std::string& sentence)
    {
        text(margin, y_ += line_height, "title", elided(inert_text(title), columns * 3 / 4));
        text(margin, y_ += line_height, "muted", sentence);
        spoken_ = sentence;
    }

    [[nodiscard]] std::string svg(const std::string& title) const
    {
        const double height = y_ + margin;
        return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" "
                           "viewBox=\"0 0 {0} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n",
                           width, height, escaped_xml(title), escaped_xml(spoken_)) +
               std::string{style} + "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n" + body_ + "</svg>\n";
    }

  private:
    void text(double x, double y, std::string_view kind, std::string_view content, std::string_view more = {})
    {
        body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}{}>{}</text>\n", x, y,
                             kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), more.empty() ? "" : " ", more,
                             escaped_xml(std::string{content}));
    }

    void line(std::string_view kind, double x1, double y1, double x2, double y2)
    {
        body_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", kind, x1, y1, x2, y2);
    }

    void draw_picture(std::monostate /*charts without a picture are not drawn*/) {}

    // Names stand beside their rows, or above them if one needs more than a third of the width.
    void draw_picture(const DotPicture& picture)
    {
        double names = 0;
        double room_for_text = 90;  // right of the last dot
        for (const DotPicture::Row& row : picture.rows) {
            names = std::max(names, width_of(row.name));
            room_for_text = std::max(room_for_text, width_of(row.text) + 12);
        }
        const bool are_above = names > width / 3;
        const double row_height = are_above ? 36 : 24;
        const double left = margin + (are_above ? 8 : names + 12);
        const double right = width - margin - room_for_text;
        const auto place = [&](double value) {
            const double from = picture.is_log ? std::log(picture.from) : picture.from;
            const double to = picture.is_log ? std::log(picture.to) : picture.to;
            const double at = picture.is_log ? std::log(std::max(value, picture.from)) : value;
            return left + (right - left) * std::clamp((at - from) / (to - from), 0.0, 1.0);
        };
        for (const PictureLine& one : picture.lines) {
            if (!one.name.empty()) {
                const bool is_right = place(one.at) > (left + right) / 2;
                text(place(one.at), y_, is_right ? "end" : "", one.name);
                y_ += line_height;
            }
        }
        y_ -= picture.lines.empty() || picture.lines.front().name.empty() ? 0 : line_height / 2;
        const double bottom = y_ + row_height * static_cast<double>(picture.rows.size());
        for (const AxisMark& mark : axis_marks(picture)) {
            line("line", place(mark.at), y_, place(mark.at), bottom);
            text(place(mark.at), bottom + line_height, "muted mid", mark.text);
        }
        for (const PictureLine& one : picture.lines) {
            line(one.is_limit ? "limit" : "reference", place(one.at), y_, place(one.at), bottom);
        }
        for (const DotPicture::Row& row : picture.rows) {
            const double middle = y_ + row_height - 12;
            const std::string_view tone = row.tone == Tone::bad ? " bad" : row.tone == Tone::good ? " good" : "";
            text(are_above ? margin : left - 12, are_above ? middle - 12 : middle + 4, are_above ? "" : "end",
                 elided(row.name, columns));
            line(fmt::format("dot{}", tone), place(row.low), middle, place(row.high), middle);
            body_ += fmt::format("<circle class=\"dot{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n", tone,
                                 place(row.value), middle);
            text(place(std::max(row.value, row.high)) + 9, middle + 4, row.tone == Tone::bad ? "bad" : "", row.text);
            y_ += row_height;
        }
        y_ = bottom + 2 * line_height;
        text((left + right) / 2, y_ + 4, "muted mid", picture.quantity + (picture.is_log ? " (logarithmic)" : ""));
    }

    // Headings stand level above their columns; all of them lean to the right if one is wider than its column.
    void draw_picture(const HeatPicture& picture)
    {
        constexpr double row_height = 20;
        constexpr double lean = 0.5;  // sine of 30 degrees
        constexpr int most_letters = 24;
        double names = width_of(picture.row_axis);
        double headings = 0;
        for (const std::string& row : picture.rows) {
            names = std::max(names, width_of(elided(row, most_letters)));
        }
        for (const std::string& column : picture.columns) {
            headings = std::max(headings, width_of(elided(column, most_letters)));
        }
        const double left = margin + names + 12;
        const auto count = static_cast<double>(picture.columns.size());
        const bool are_leaning = headings + letter > (width - margin - left) / count;
        const double cell = (width - margin - left - (are_leaning ? headings : 0)) / count;
        text(left, y_, "muted", elided(picture.column_axis, columns / 2));
        y_ += line_height + (are_leaning ? headings * lean : 6);
        text(left - 12, y_ - 6, "muted end", picture.row_axis);
        for (std::size_t i = 0; i < picture.columns.size(); ++i) {
            const double x = left + cell * (static_cast<double>(i) + 0.5);
            text(x, y_ - 6, are_leaning ? "" : "mid", elided(picture.columns[i], most_letters),
                 are_leaning ? fmt::format("transform=\"rotate(-30 {:.1f} {:.1f})\"", x, y_ - 6) : "");
        }
        for (std::size_t i = 0; i < picture.rows.size(); ++i) {
            text(left - 12, y_ + row_height * static_cast<double>(i) + 14, "end",
                 elided(picture.rows[i], most_letters));
        }
        for (const HeatPicture::Cell& one : picture.cells) {
            constexpr double faintest = 0.04;
            constexpr double strongest = 0.6;  // letters on it have their contrast still
            const double x = left + cell * static_cast<double>(one.column);
            const double y = y_ + row_height * static_cast<double>(one.row);
            body_ += fmt::format("<rect class=\"cell\" x=\"{:.1f}\" "
                                 "y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill-opacity=\"{:.2f}\"><title>{}, {}: "
                                 "{}</title></rect>\n",
                                 x, y, cell, row_height, faintest + (strongest - faintest) * one.share,
                                 escaped_xml(picture.rows[one.row]), escaped_xml(picture.columns[one.column]),
                                 escaped_xml(one.text));
            if (picture.has_texts) {
                text(x + cell / 2, y + 14, "mid", one.text);
            }
        }
        y_ += row_height * static_cast<double>(picture.rows.size());
    }

    std::string body_;
    std::string about_;  // of the last chart: said once
    std::string spoken_;
    double y_{margin};
};

// The drawn charts of the first section that has any, wherever it lies.
std::vector<Chart> first_charts(const Blocks& blocks)
{
    std::vector<Chart> found;
    for (const Block& block : blocks) {
        if (const auto* section = std::get_if<Section>(&block.part)) {
            found = first_charts(section->blocks);
        } else if (const auto* charts = std::get_if<Charts>(&block.part)) {
            for (ChartSection& one : charts->sections()) {
                std::erase_if(one.charts,
                              [](const Chart& chart) { return std::holds_alternative<std::monostate>(chart.picture); });
                if (found.empty()) {
                    found = std::move(one.charts);
                }
            }
        }
        if (!found.empty()) {
            break;
        }
    }
    return found;
}

}  // namespace

std::string to_svg(const Document& content)
{
    SvgWriter writer;
    const std::vector<Chart> charts = first_charts(content.blocks);
    for (const Chart& chart : charts) {
        writer.draw(chart);
    }
    if (charts.empty()) {
        writer.say(content.title,
                   "No picture: one takes two cases or more with a time or a peak, or a comparison of ratios.");
    }
    return writer.svg(content.title);
}

}  // namespace memsweep::reporters
