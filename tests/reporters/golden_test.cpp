#include <string>

#include "reporters/document/run_document.hpp"
#include "reporters/formats.hpp"
#include "reporters/html/page_assets.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "tests/reporters/golden.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

// A page without the text of its scripts, which have files of their own; their hashes in its policy are names for them.
std::string without_scripts(std::string text)
{
    const auto replace = [&](const std::string& part, const std::string& name) {
        if (const std::size_t at = text.find(part); at != std::string::npos) {
            text.replace(at, part.size(), name);
        }
    };
    replace(std::string{chart_library()}, "[vega.bundle.js]");
    replace(std::string{page_script()}, "[report_page.js]");
    replace(script_hash(chart_library()), "[hash of vega.bundle.js]");
    replace(script_hash(page_script()), "[hash of report_page.js]");
    return text;
}

}  // namespace

TEST_CASE("every format writes its golden file", "[unit]")
{
    const model::RunReport report = sample_report();
    for (const Format& format : formats()) {
        const std::string text = text_in(format, report);
        if (format.fits_one_text != nullptr) {
            continue;  // its parts have theirs
        }
        check_golden("sample" + std::string{format.extension}, without_scripts(text));
        CHECK((text == text_in(format, report)));
    }
    check_golden("sample.terminal.txt", to_terminal(report, TerminalStyle{}));
    check_golden("sample.color.txt", to_terminal(report, TerminalStyle{.width = 80, .color = true, .verbose = false}));
}

TEST_CASE("a format is found by its name, and a mistyped one gets a suggestion", "[unit]")
{
    CHECK(find_format("json")->extension == ".json");
    CHECK(find_format("csv-series")->extension == ".series.csv");
    const auto unknown = find_format("htlm");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().message == "unknown format \"htlm\"; did you mean \"html\"?");
    CHECK_FALSE(find_format(""));
}

}  // namespace memsweep::reporters
