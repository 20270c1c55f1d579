// The formats that several results can be written in together: what `report -f` accepts then.
#pragma once

#include <span>
#include <string_view>

#include "reporters/history_report.hpp"
#include "reporters/text_sink.hpp"

namespace memsweep::reporters {

struct HistoryFormat {
    std::string_view name;
    void (*write)(const HistoryReport&, TextSink&);
};

[[nodiscard]] std::span<const HistoryFormat> history_formats();
[[nodiscard]] const HistoryFormat* find_history_format(std::string_view name);  // nullptr: it has no form for several

}  // namespace memsweep::reporters
