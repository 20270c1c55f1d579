#include "reporters/json/return_json.hpp"
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

Json heap_of(const measure::ReplayedHeap& heap)
{
    return {{"held", heap.held.median}, {"held_after_request", heap.given_back.median}};
}

Json snapshot_of(const CheckedSnapshot& checked)
{
    return {{"at", checked.is_of_end ? "end" : "time"},
            {"seconds", checked.seconds},
            {"seconds_from_it", checked.seconds_from_it}};
}

}  // namespace

std::string to_json(const WhatIfReport& one)
{
    Json document{{"format", "memsweep-whatif"},
                  {"format_version", 1},
                  {"trace", repaired_utf8(one.trace)},
                  {"without", texts_of(one.asked)},
                  {"sites", texts_of(one.sites)},
                  {"until", one.until.empty() ? "end" : repaired_utf8(one.until)},
                  {"on", repaired_utf8(one.on)},
                  {"request", request_of(one.allocator)},
                  {"whole", heap_of(one.whole)},
                  {"rest", heap_of(one.without)},
                  {"process", one.process ? Json(*one.process) : Json()},
                  {"runs", one.runs},
                  {"how", "replay"},
                  {"snapshot", one.checked ? snapshot_of(*one.checked) : Json()},
                  {"replay_check", one.checked ? check_of_replay(one.checked->check) : Json()},
                  {"not_checked", one.checked ? Json() : Json(one.not_checked)},
                  {"warnings", one.warnings}};
    put_return(return_of(one), document);
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
