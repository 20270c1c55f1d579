#include <algorithm>

#include "reporters/document/run_document.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

std::string markdown(const model::RunReport& report)
{
    return to_markdown(report);
}

}  // namespace

TEST_CASE("text is shown as it is in Markdown", "[unit]")
{
    CHECK(markdown_text("working_set 1.25 ms, 762.9 MiB") == "working_set 1.25 ms, 762.9 MiB");
    CHECK(markdown_text("</script><b>&amp;") == "&lt;/script&gt;&lt;b&gt;&amp;amp;");
    CHECK(markdown_text("a|b `c` *d* _e_ [f](g) ~~h~~ $i$ \\") ==
          "a&#124;b &#96;c&#96; \\*d\\* \\_e\\_ \\[f\\](g) \\~\\~h\\~\\~ \\$i\\$ \\\\");
    CHECK(markdown_text("# no heading") == "\\#<!-- --> no heading");
    CHECK(markdown_text("- no item") == "\\- no item");
    CHECK(markdown_text("12. no item") == "12\\. no item");
    CHECK(markdown_text("    no code\n\n    either") == "no code      either");
    CHECK(markdown_text("@octocat #1 https://x.y www.x.y") ==
          "@<!-- -->octocat \\#<!-- -->1 https:<!-- -->//x.y www<!-- -->.x.y");
    CHECK(markdown_text("\x1b[31m\xff") == "\uFFFD\\[31m\uFFFD");
}

TEST_CASE("a summary begins with the verdict", "[unit]")
{
    CHECK(markdown(sample_report()).starts_with("## ✗ 2 of 4 cases ok; 1 skipped, 1 timed out."));
    model::RunReport good = sample_report();
    good.cases.resize(2);
    good.assertions.resize(1);
    CHECK(markdown(good).starts_with("## ✓ Both cases were measured. The assertion holds."));
}

TEST_CASE("a headline that judges nothing has no sign", "[unit]")
{
    const auto first_line = [](Tone tone) {
        Document document;
        document.add(Opening{.headline = {"All of it.", tone}});
        const std::string text = to_markdown(document);
        return text.substr(0, text.find('\n'));
    };
    CHECK(first_line(Tone::plain) == "### All of it.");
    CHECK(first_line(Tone::caution) == "### ? All of it.");
    CHECK(first_line(Tone::good) == "### ✓ All of it.");
    CHECK(first_line(Tone::bad) == "### ✗ All of it.");
}

TEST_CASE("hostile names make no markup, no row and no column in Markdown", "[unit]")
{
    const std::string plain = markdown(sample_report());
    const std::string hostile = markdown(hostile_report());
    CHECK(hostile.find("<script") == std::string::npos);
    CHECK(hostile.find('\x1b') == std::string::npos);
    CHECK(std::ranges::count(hostile, '`') == 0);
    const auto rows_of = [](const std::string& text) {
        std::size_t rows = 0;
        for (std::size_t at = text.find("\n|"); at != std::string::npos; at = text.find("\n|", at + 1)) {
            ++rows;
        }
        return rows;
    };
    CHECK(rows_of(hostile) >= rows_of(plain));
}

TEST_CASE("a summary of a large result stays below what GitHub takes", "[unit]")
{
    model::RunReport report = sample_report();
    const model::CaseReport one = report.cases[0];
    report.cases.assign(3000, one);
    for (std::size_t i = 0; i < report.cases.size(); ++i) {
        report.cases[i].id = std::string(500, 'n') + std::to_string(i);
        report.cases[i].params[1].value = report.cases[i].id;
    }
    const std::string text = markdown(report);
    CHECK(text.size() < (1 << 20));
    CHECK(text.find("2800 more rows are not shown here") != std::string::npos);
}

}  // namespace memsweep::reporters
