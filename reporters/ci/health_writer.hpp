// What a node-health script wants of one result: a line of JSON if its host is bad, nothing if it is well.
//
// {"host","healthy":false,"run_id","evidence":[{"kind":"case","case","status","text"}]}
// Sources  every case that failed, crashed or ran out of time, every failed limit and assertion of severity fail.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_health(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
