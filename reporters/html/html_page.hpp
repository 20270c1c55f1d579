// What every page has: a head that allows nothing from outside, an opening, the verdict, and facts.
#pragma once

#include <string>
#include <vector>

#include "core/measure/findings.hpp"
#include "reporters/document/headline.hpp"
#include "reporters/document/run_facts.hpp"

namespace memsweep::reporters {

struct Page {
    std::string kicker;  // above the title: what kind of page it is
    std::string title;
    std::string description;
    std::string body;  // HTML
    bool with_charts{};
};

[[nodiscard]] std::string page_html(const Page& page);

// The headline and the findings in their order; beyond a few of a kind they open on demand, so that the first screen
// has the first of each.
[[nodiscard]] std::string verdict_html(const Headline& line, const std::vector<measure::Finding>& findings);

[[nodiscard]] std::string facts_html(const std::vector<Fact>& facts);

}  // namespace memsweep::reporters
