// What is said of the removal of call sites, and why a figure is not told, in every format that people read.
#include "reporters/document/site_return.hpp"

#include <initializer_list>
#include <string>

#include "reporters/document/explanation.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/wording/return_words.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::int64_t one_mebibyte = 1 << 20;

measure::ReturnedBytes figure(std::int64_t bytes, std::uint64_t spread, std::optional<std::uint64_t> replay_error)
{
    return {.bytes = bytes, .spread = spread, .replay_error = replay_error};
}

measure::ReplayedHeap heap(std::int64_t held, std::int64_t given_back)
{
    return {{held, held, held}, {given_back, given_back, given_back}};
}

ExplainedSite removed_site(const std::string& place, const measure::SiteReturn& without)
{
    ExplainedSite one;
    one.place = place;
    one.without = without;
    return one;
}

Explanation explanation(std::initializer_list<ExplainedSite> sites)
{
    Explanation one;
    one.command = {"./service"};
    one.at = "end";
    one.sites = sites;
    one.replay_check =
        measure::ReplayCheck{.resident = 20 * one_mebibyte + 400 * 1024,
                             .measured = 20 * one_mebibyte,
                             .never_a_block = 2 * one_mebibyte,
                             .after_request = {{.resident = 5 * one_mebibyte, .measured = 5 * one_mebibyte - 4096}}};
    return one;
}

WhatIfReport whatif()
{
    WhatIfReport report;
    report.trace = "service.mst";
    report.sites = {"load (a.c:3)"};
    report.on = "glibc";
    report.runs = 3;
    report.whole = heap(20 * one_mebibyte, 8 * one_mebibyte);
    report.without = heap(4 * one_mebibyte, 7 * one_mebibyte);
    report.not_checked = "The trace has no snapshot.";
    return report;
}

bool holds(const std::string& text, std::string_view part)
{
    std::string words;
    for (const char one : text) {
        const bool is_space = one == ' ' || one == '\n';
        if (!is_space || words.empty() || words.back() != ' ') {
            words += is_space ? ' ' : one;
        }
    }
    return words.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("returned: why a figure is not told", "[unit]")
{
    CHECK(untold_text(figure(10 * one_mebibyte, 0, one_mebibyte), 3).empty());
    CHECK(untold_text(figure(10 * one_mebibyte - 1, 0, one_mebibyte), 3) ==
          "too small to tell from the replay's own error of 1.00 MiB");
    CHECK(untold_text(figure(10 * one_mebibyte - 1, one_mebibyte, one_mebibyte), 3) ==
          "too small to tell from the replay's own error of 1.00 MiB");
    CHECK(untold_text(figure(10 * one_mebibyte, 2 * one_mebibyte, one_mebibyte), 3) ==
          "its 3 replays are 2.00 MiB apart");
    CHECK(untold_text(figure(10 * one_mebibyte, 2 * one_mebibyte, {}), 3) == "its 3 replays are 2.00 MiB apart");
    CHECK(unusable_text({.resident = 30 * one_mebibyte, .measured = 20 * one_mebibyte}) ==
          "its replay holds 30.0 MiB of heap where the program held 20.0 MiB, and more than 5 % apart says nothing of "
          "it");
}

TEST_CASE("returned: the table of an explanation has a reason for each figure that it does not tell", "[unit]")
{
    constexpr std::uint64_t error = 400 * 1024;
    const measure::SiteReturn large{figure(9 * one_mebibyte, 0, error), figure(one_mebibyte, 0, 4096), 3};
    const measure::SiteReturn small{figure(one_mebibyte, 0, error), figure(20'480, 0, 4096), 3};
    const measure::SiteReturn mixed{figure(one_mebibyte, 0, error), figure(one_mebibyte, 0, 4096), 3};
    const measure::SiteReturn apart{figure(-9 * one_mebibyte, one_mebibyte, error),
                                    figure(8 * one_mebibyte, one_mebibyte, 4096), 3};
    const Explanation told = explanation({removed_site("load (a.c:3)", large)});
    for (const std::string& text : {to_terminal(told, TerminalStyle{.width = 160}), to_markdown(told), to_html(told)}) {
        CHECK(holds(text, "Without a call site"));
        CHECK(holds(text, "9.00 MiB"));
        CHECK_FALSE(holds(text, "to tell from"));
    }
    const Explanation some = explanation({removed_site("load (a.c:3)", large), removed_site("keep (a.c:4)", small),
                                          removed_site("tidy (a.c:5)", mixed), removed_site("late (a.c:6)", apart)});
    for (const std::string& text : {to_terminal(some, TerminalStyle{.width = 200}), to_markdown(some)}) {
        CHECK(holds(text, "keep (a.c:4): as it is: too small to tell from the replay's own error of 400.0 KiB; after "
                          "malloc_trim: too small to "
                          "tell from the replay's own error of 4.00 KiB"));
        CHECK(holds(text, "late (a.c:6): its 3 replays are 1.00 MiB apart"));
        CHECK(holds(text, "tidy (a.c:5): as it is: too small to tell from the replay's own error of 400.0 KiB"));
        CHECK_FALSE(holds(text, "-9.00 MiB"));
        CHECK_FALSE(holds(text, "20.0 KiB"));
    }
    CHECK(holds(to_html(some), "too small to tell from the replay"));
    const std::string json = to_json(some);
    CHECK(holds(json, "\"returns\": 9437184, \"error\": 409600, \"not_told\": null"));
    CHECK(holds(json,
                "\"returns\": null, \"error\": 409600, \"not_told\": \"too small to tell from the replay's own error "
                "of 400.0 KiB\""));
    CHECK(holds(json, "\"returns_after_request\": null, \"error_after_request\": 4096, \"not_told_after_request\": "
                      "\"too small to tell from the replay's own error of 4.00 KiB\""));
    CHECK(holds(json, "\"resident_after_request\": 5242880, \"measured_after_request\": 5238784"));
}

TEST_CASE("whatif: what removing returns, and whether that was checked", "[unit]")
{
    const WhatIfReport bare = whatif();
    REQUIRE(return_of(bare));
    const std::string unchecked = to_markdown(bare);
    CHECK(holds(unchecked, "20.0 MiB of heap at its end; removing load (a.c:3) returns 16.0 MiB."));
    CHECK(holds(unchecked, "After malloc_trim: 8.00 MiB; removing it returns 1.00 MiB."));
    CHECK(holds(unchecked, "is not checked. The trace has no snapshot."));

    WhatIfReport checked = whatif();
    checked.checked =
        CheckedSnapshot{.is_of_end = false,
                        .seconds = 3,
                        .seconds_from_it = 1.25,
                        .check = {.resident = 20 * one_mebibyte, .measured = 20 * one_mebibyte - 512 * 1024}};
    const std::string told = to_markdown(checked);
    CHECK(holds(told, "removing load (a.c:3) returns 16.0 MiB."));
    CHECK(holds(told, "what removing it returns is not told: too small to tell from the replay's own error of 512.0 "
                      "KiB."));
    CHECK(holds(told, "Checked with the snapshot at 3.000 s, 1.250 s from that moment: the replay of everything holds "
                      "20.0 MiB of heap then, the program held 19.5 MiB."));
    CHECK(holds(to_json(checked), "\"returns\": 16777216"));
    CHECK(holds(to_json(checked), "\"returns_after_request\": null"));

    checked.checked->is_of_end = true;
    checked.checked->seconds_from_it = 0;
    CHECK(holds(to_markdown(checked), "Checked with the snapshot of its end: the"));
    checked.checked->check.measured = 10 * one_mebibyte;
    CHECK_FALSE(return_of(checked));
    const std::string off = to_markdown(checked);
    CHECK(holds(off, "20.0 MiB of heap at its end."));
    CHECK_FALSE(holds(off, "16.0 MiB"));
    CHECK(holds(off, "is not offered: at the snapshot of its end, its replay holds 20.0 MiB of heap where the program "
                     "held 10.0 MiB"));
    CHECK(holds(to_json(checked), "\"returns\": null, \"error\": null, \"not_told\": null"));
}

TEST_CASE("whatif: the process that is replayed is named", "[unit]")
{
    WhatIfReport report = whatif();
    CHECK(holds(to_json(report), "\"process\": null"));
    report.process = 77;
    CHECK(holds(to_json(report), "\"process\": 77"));
    report.program = "service";
    CHECK(
        holds(to_terminal(report, TerminalStyle{.width = 160}), "Of the trace's processes 77 (service) is replayed."));
    report.program.clear();
    CHECK(holds(to_markdown(report), "processes 77 is replayed."));
}

}  // namespace memsweep::reporters
