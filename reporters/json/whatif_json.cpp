#include "reporters/json/subject_json.hpp"

#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

Json texts_of(const std::vector<std::string>& texts)
{
    Json list = Json::array();
    for (const std::string& text : texts) {
        list.push_back(repaired_utf8(text));
    }
    return list;
}

Json heap_of(const HeapFigures& heap)
{
    return {{"held", heap.held}, {"held_after_request", heap.given_back}};
}

}  // namespace

std::string to_json(const WhatIfReport& one)
{
    const SiteReturn result = site_return(one.whole, one.without, one.runs);
    const Json document{{"format", "memsweep-whatif"},
                        {"format_version", 1},
                        {"trace", repaired_utf8(one.trace)},
                        {"without", texts_of(one.asked)},
                        {"sites", texts_of(one.sites)},
                        {"until", one.until.empty() ? "end" : repaired_utf8(one.until)},
                        {"on", repaired_utf8(one.on)},
                        {"request", request_of(one.allocator)},
                        {"whole", heap_of(one.whole)},
                        {"rest", heap_of(one.without)},
                        {"returns", result.returns},
                        {"returns_after_request", result.returns_after_request},
                        {"runs", result.runs},
                        {"how", "replay"},
                        {"replay_check", Json()},
                        {"warnings", one.warnings}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
