// One chart: what it shows in words, the Vega-Lite spec that draws it, and its figures as tables.
#pragma once

#include <string>
#include <vector>

#include "reporters/document/table.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

struct Chart {
    std::string title{};   // "Working set over time"
    std::string about{};   // one or two sentences: what is drawn, and how to read it
    std::string spoken{};  // what it shows, for those who do not see it
    Json spec{};           // without colours or fonts: those belong to where it is shown
    std::vector<Table> data{};
    bool long_data{};  // its tables have a row per sample
};

struct ChartSection {
    std::string title;  // what its cases share and others do not, inert; may be empty
    std::vector<Chart> charts;
};

}  // namespace memsweep::reporters
