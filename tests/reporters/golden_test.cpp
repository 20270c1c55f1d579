#include "reporters/formats.hpp"
#include "reporters/terminal_writer.hpp"
#include "tests/reporters/golden.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {

TEST_CASE("every format writes its golden file", "[unit]")
{
    const model::RunReport report = sample_report();
    for (const Format& format : formats()) {
        const std::string text = text_in(format, report);
        if (format.fits_one_text != nullptr) {
            continue;  // its parts have theirs
        }
        check_golden("sample" + std::string{format.extension}, text);
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
