#include "reporters/svg/svg_writer.hpp"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reporters/document/comparison.hpp"
#include "reporters/document/picture.hpp"
#include "tests/reporters/golden.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

std::size_t times(std::string_view text, std::string_view part)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) {
        ++count;
    }
    return count;
}

std::vector<std::string> mark_texts(const DotPicture& picture)
{
    std::vector<std::string> texts;
    for (const AxisMark& mark : axis_marks(picture)) {
        texts.push_back(mark.text);
    }
    return texts;
}

model::RunReport map_of(std::size_t sizes, const std::vector<std::string>& modes)
{
    model::RunReport report;
    for (std::size_t size = 1; size <= sizes; ++size) {
        for (const std::string& mode : modes) {
            model::CaseReport one = sample_report().cases[0];
            one.params = {{"size", static_cast<std::int64_t>(size)}, {"mode", mode}};
            one.id = fmt::format("map/size={}/mode={}", size, mode);
            report.cases.push_back(one);
        }
    }
    return report;
}

}  // namespace

TEST_CASE("a picture has a dot and a value for each case, of time and of peak", "[unit]")
{
    const std::string svg = to_svg(sample_report());
    CHECK(times(svg, "<circle") == 4);
    CHECK(times(svg, ">refcount</text>") == 2);
    CHECK(times(svg, ">finalizer</text>") == 2);
    CHECK(svg.find(">Time per op by case<") != std::string::npos);
    CHECK(svg.find("prefers-color-scheme:dark") != std::string::npos);
    CHECK(times(svg, "<script") == 0);
    CHECK(times(svg, "href") == 0);
    CHECK(times(svg, "url(") == 0);
}

TEST_CASE("a picture of many cases is a map, a cell for each", "[unit]")
{
    const std::string svg = to_svg(map_of(30, {"a", "b"}));
    CHECK(times(svg, "<circle") == 0);
    CHECK(times(svg, "<rect class=\"cell\"") == 120);
    CHECK(svg.find("nan") == std::string::npos);  // all medians are the same
}

TEST_CASE("the headings of a map are level where each fits above its column", "[unit]")
{
    CHECK(times(to_svg(map_of(30, {"refcount", "finalizer"})), "rotate(") == 0);
    const std::string narrow = "a mode with a long name ";
    std::vector<std::string> modes;
    for (int mode = 0; mode < 8; ++mode) {
        modes.push_back(fmt::format("{}{}", narrow, mode));
    }
    CHECK(times(to_svg(map_of(10, modes)), "rotate(") == 2 * modes.size());  // a map of times and one of peaks
}

TEST_CASE("a picture of one case alone is a sentence", "[unit]")
{
    model::RunReport report = sample_report();
    report.cases.resize(1);
    const std::string svg = to_svg(report);
    CHECK(svg.find("No picture") != std::string::npos);
    CHECK(times(svg, "<circle") + times(svg, "<rect class=\"cell\"") == 0);
}

TEST_CASE("names in a picture are escaped and stay in it, however long", "[unit]")
{
    const std::string svg = to_svg(hostile_report());
    CHECK(times(svg, "<script") == 0);
    CHECK(times(svg, "<circle") > 0);
    model::RunReport report = sample_report();
    report.cases[0].params = {{"mode", std::string(300, 'x')}};
    const std::string wide = to_svg(report);
    CHECK(times(wide, "class=\"end\"") == 0);  // all names stand above their dots
    std::istringstream lines{wide};
    for (std::string line; std::getline(lines, line);) {
        CHECK((!line.starts_with("<text") || line.size() < 200));
    }
}

TEST_CASE("an axis without ends of its own has no marks", "[unit]")
{
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const auto& [from, to] :
         {std::pair{0.0, 1e6}, {-1.0, 1e6}, {1.0, infinite}, {std::nan(""), 2.0}, {3.0, 3.0}}) {
        CHECK(axis_marks({.from = from, .to = to, .is_log = true}).empty());
    }
    CHECK(axis_marks({.from = 0, .to = infinite}).empty());
    CHECK_FALSE(axis_marks({.from = 0, .to = 10}).empty());
}

TEST_CASE("marks of an axis are round, few, and within it", "[unit]")
{
    using Texts = std::vector<std::string>;
    CHECK(mark_texts({.unit = model::Unit::seconds, .from = 0, .to = 0.0034}) == Texts{"0", "1 ms", "2 ms", "3 ms"});
    CHECK(mark_texts({.unit = model::Unit::bytes, .from = 0, .to = 800e6}) ==
          Texts{"0", "128 MiB", "256 MiB", "384 MiB", "512 MiB", "640 MiB"});
    CHECK(mark_texts({.unit = model::Unit::one, .from = 0.9, .to = 1.12, .is_log = true}) ==
          Texts{"0.9", "0.95", "1", "1.05", "1.1"});
    CHECK(mark_texts({.unit = model::Unit::seconds, .from = 9e-7, .to = 1.1e-3, .is_log = true}) ==
          Texts{"1 us", "10 us", "100 us", "1 ms"});
    CHECK(mark_texts({.unit = model::Unit::one, .from = 0, .to = 1}) == Texts{"0", "0.2", "0.4", "0.6", "0.8", "1"});
    for (double most = 3e-9; most < 1e15; most *= 3.7) {
        for (const model::Unit unit : {model::Unit::bytes, model::Unit::seconds, model::Unit::one}) {
            for (const bool is_log : {false, true}) {
                const DotPicture picture{.unit = unit, .from = is_log ? most / 1000 : 0, .to = most, .is_log = is_log};
                const std::vector<AxisMark> marks = axis_marks(picture);
                CHECK((marks.size() >= 2 && marks.size() <= 8));
                CHECK((marks.front().at >= picture.from && marks.back().at <= picture.to));
            }
        }
    }
}

}  // namespace memsweep::reporters
