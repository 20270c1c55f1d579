#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reporters/document/run_document.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/html/page_assets.hpp"
#include "reporters/text/escaping.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

// Tag names in order, closing ones with their slash; fails on anything that is not a plain tag.
std::vector<std::string> tags_of(const std::string& html)
{
    std::vector<std::string> tags;
    for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
        const std::size_t end = html.find('>', at);
        REQUIRE(end != std::string::npos);
        const std::string tag = html.substr(at + 1, end - at - 1);
        REQUIRE(tag.find('<') == std::string::npos);
        tags.push_back(tag.substr(0, tag.find(' ')));
    }
    return tags;
}

// The page with the text of its scripts taken out, and that text.
struct Page {
    std::string markup;
    std::vector<std::string> scripts;  // that run
    std::vector<std::string> data;     // blocks of JSON
};

Page page_of(const std::string& html)
{
    Page page;
    std::size_t at = 0;
    for (std::size_t open = html.find("<script"); open != std::string::npos; open = html.find("<script", at)) {
        const std::size_t start = html.find('>', open) + 1;
        const std::size_t end = html.find("</script>", start);
        REQUIRE(end != std::string::npos);
        page.markup += html.substr(at, start - at);
        const bool is_data = html.substr(open, start - open).find("application/json") != std::string::npos;
        (is_data ? page.data : page.scripts).push_back(html.substr(start, end - start));
        at = end;
    }
    page.markup += html.substr(at);
    return page;
}

void check_balance(const std::vector<std::string>& tags)
{
    const std::set<std::string> without_end{"!doctype", "meta", "wbr"};
    std::vector<std::string> open;
    for (const std::string& tag : tags) {
        if (tag.front() == '/') {
            REQUIRE_FALSE(open.empty());
            CHECK(open.back() == tag.substr(1));
            open.pop_back();
        } else if (!without_end.contains(tag)) {
            open.push_back(tag);
        }
    }
    CHECK(open.empty());
}

double luminance(const std::string& hex)
{
    const auto channel = [&](std::size_t at) {
        const double value = std::stoi(hex.substr(at, 2), nullptr, 16) / 255.0;
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

double contrast(const std::string& one, const std::string& other)
{
    const auto [dark, light] = std::minmax({luminance(one), luminance(other)});
    return (light + 0.05) / (dark + 0.05);
}

// The custom properties of the n-th ":root {...}".
std::map<std::string, std::string> theme(const std::string& css, std::size_t number)
{
    std::size_t at = css.find(":root {");
    for (; number > 0; --number) {
        at = css.find(":root {", at + 1);
    }
    const std::string block = css.substr(at, css.find('}', at) - at);
    std::map<std::string, std::string> colours;
    for (std::size_t name = block.find("--"); name != std::string::npos; name = block.find("--", name + 1)) {
        colours[block.substr(name, block.find(':', name) - name)] = block.substr(block.find('#', name), 7);
    }
    return colours;
}

}  // namespace

TEST_CASE("the page is balanced and fetches nothing", "[unit]")
{
    for (const model::RunReport& report : {sample_report(), hostile_report(), model::RunReport{}}) {
        const std::string html = to_html(report);
        const Page page = page_of(html);
        const auto tags = tags_of(page.markup);
        check_balance(tags);
        CHECK(page.markup.find(" src=") == std::string::npos);
        CHECK(std::ranges::count(tags, "a") == 0);
        CHECK(std::ranges::count(tags, "img") == 0);
        CHECK(std::ranges::count(tags, "link") == 0);
        CHECK(std::ranges::count(tags, "h1") == 1);
        CHECK(html.find("<html lang=\"en\">") != std::string::npos);
        CHECK((repaired_utf8(html) == html));
        CHECK(page.markup.find("url(") == std::string::npos);
        CHECK(page.markup.find("@import") == std::string::npos);
    }
}

TEST_CASE("the page's policy allows its own scripts and no others", "[unit]")
{
    CHECK(script_hash("") == "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    for (const model::RunReport& report : {sample_report(), model::RunReport{}}) {
        const std::string html = to_html(report);
        const Page page = page_of(html);
        CHECK(page.scripts.size() == (report.cases.empty() ? 1 : 2));
        const std::size_t start = html.find("content=\"default-src 'none'; script-src ");
        REQUIRE(start != std::string::npos);
        const std::string policy = html.substr(start, html.find('>', start) - start);
        CHECK(policy.find("unsafe-eval") == std::string::npos);
        CHECK(policy.find("script-src 'unsafe-inline'") == std::string::npos);
        for (const std::string& script : page.scripts) {
            CHECK(policy.find("'" + script_hash(script) + "'") != std::string::npos);
        }
        CHECK(std::ranges::count(policy, '\'') == 2 * static_cast<std::ptrdiff_t>(page.scripts.size() + 4));
    }
}

TEST_CASE("no script contains what would end it", "[unit]")
{
    for (const std::string_view script : {chart_library(), page_script()}) {
        CHECK(script.size() > 1000);
        CHECK(script.find("</script") == std::string_view::npos);
        CHECK(script.find("<!--") == std::string_view::npos);
    }
}

TEST_CASE("a hostile page has the tags of a harmless one", "[unit]")
{
    CHECK(escaped("<b a=\"1\" c='2'>&\x1b") == "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\uFFFD");
    model::RunReport plain = sample_report();
    plain.run.argv.emplace_back("x");
    std::set<std::string> expected{"wbr"};  // in long names
    std::ranges::for_each(tags_of(page_of(to_html(plain)).markup),
                          [&](const std::string& tag) { expected.insert(tag); });
    const Page hostile = page_of(to_html(hostile_report()));
    for (const std::string& tag : tags_of(hostile.markup)) {
        CHECK(expected.contains(tag));
    }
    for (const std::string& block : hostile.data) {
        CHECK(block.find('<') == std::string::npos);
        CHECK(nlohmann::json::accept(block));
    }
}

TEST_CASE("every table has a caption that names its box, and headers with a scope", "[unit]")
{
    const std::string html = page_of(to_html(sample_report())).markup;
    std::set<std::string> ids;
    for (std::size_t at = html.find(" id=\""); at != std::string::npos; at = html.find(" id=\"", at + 1)) {
        CHECK(ids.insert(html.substr(at + 5, html.find('"', at + 5) - at - 5)).second);
    }
    std::size_t boxes = 0;
    for (std::size_t at = html.find("aria-labelledby=\""); at != std::string::npos;
         at = html.find("aria-labelledby=\"", at + 1)) {
        CHECK(ids.contains(html.substr(at + 17, html.find('"', at + 17) - at - 17)));
        ++boxes;
    }
    const auto is_caption = [](const std::string& id) {
        return (!id.starts_with("chart-") || id.find("data") != std::string::npos) && id != "chart-theme";
    };
    CHECK(boxes == static_cast<std::size_t>(std::ranges::count_if(ids, is_caption)));
    for (std::size_t at = html.find("<th"); at != std::string::npos; at = html.find("<th", at + 1)) {
        CHECK((html.compare(at, 6, "<thead") == 0 || html.compare(at, 11, "<th scope=\"") == 0));
    }
}

TEST_CASE("text has a contrast of at least 4.5 in both themes", "[unit]")
{
    const std::string css{style_sheet()};
    for (const std::size_t number : {0U, 1U}) {
        const auto colours = theme(css, number);
        for (const char* text : {"--text", "--muted", "--good", "--caution", "--bad"}) {
            for (const char* surface : {"--page", "--surface"}) {
                INFO(text << " on " << surface << " in theme " << number);
                CHECK(contrast(colours.at(text), colours.at(surface)) >= 4.5);
            }
        }
        for (int series = 1; series <= 8; ++series) {
            const std::string& colour = colours.at(fmt::format("--series-{}", series));
            CHECK(contrast(colour, colours.at("--surface")) >= 3);
            CHECK(contrast(colour, colours.at("--phase")) >= 3);
        }
    }
}

TEST_CASE("warnings of one kind are all in the page, the first in the open", "[unit]")
{
    model::RunReport report = sample_report();
    for (int i = 0; i < 3; ++i) {
        report.warnings.push_back({"noisy", "case " + std::to_string(i) + " scatters", ""});
    }
    const std::string html = to_html(report);
    check_balance(tags_of(page_of(html).markup));
    CHECK(html.find("<summary>2 more like it</summary>\n<p>case 1 scatters</p>\n<p>case 2 scatters</p>") !=
          std::string::npos);
}

TEST_CASE("failures beyond a few open on demand, so that what the modes cost comes on the first screen", "[unit]")
{
    model::RunReport report = sample_report();
    for (int i = 0; i < 20; ++i) {
        report.assertions.push_back({"case", fmt::format("wall_time.median < {}us", i), 1.0, model::Unit::seconds,
                                     model::AssertionOutcome::failed, model::Severity::fail, ""});
    }
    const std::string html = to_html(report);
    const std::size_t section = html.find("<section");
    const std::size_t contrast_at = html.find("the time per array of refcount", section);
    CHECK(contrast_at < html.find(" more that went wrong</summary>", section));
    CHECK(std::ranges::count(html.substr(section, contrast_at - section), '\n') < 12);
}

TEST_CASE("more than three cases that are skipped for one reason are one entry", "[unit]")
{
    const auto skipped = [](int count) {
        model::RunReport report = sample_report();
        for (int i = 0; i < count; ++i) {
            model::CaseReport one = report.cases.front();
            one.id = fmt::format("pairs/{}", i);
            one.status = model::Status::skipped;
            one.reason = "needs two devices";
            report.cases.push_back(one);
        }
        const std::string html = to_html(report);
        return html.substr(html.find("<h2>Cases that are not ok</h2>"));
    };
    const std::string few = skipped(3);
    CHECK(few.find("pairs/2") != std::string::npos);
    CHECK(few.find(" more <") == std::string::npos);
    const std::string many = skipped(28);
    CHECK(many.find("pairs/0 and 27 more") != std::string::npos);
    CHECK(many.find("pairs/1 ") == std::string::npos);
    CHECK(many.find("needs two devices") != std::string::npos);
}

TEST_CASE("long series are thinned in the page", "[unit]")
{
    model::RunReport report = sample_report();
    const std::size_t before = to_html(report).size();
    model::Series& series = report.cases[0].series[0];
    series.t.assign(100'000, 0.5);
    series.v.assign(100'000, 1.0);
    CHECK(to_html(report).size() < before + 2'000 * 150 + 200 * 150);
}

}  // namespace memsweep::reporters
