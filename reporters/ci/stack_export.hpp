// Writes call stacks with their memory figures, for viewers of other tools.
//
// Units    bytes, counts.
// Cost     some 100 ns a frame of each stack.
// Memory   pprof: the profile; collapsed: the tree of functions.
// Errors   none. Texts are repaired UTF-8; a stack of more than 2,000 frames is cut at its outer end.
#pragma once

#include <cstdint>
#include <string>

#include "core/trace/stacks.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/symbols/symbolizer.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

struct StackFigures {
    const trace::StackTable* table{};
    trace::Symbolizer* symbolizer{};
    const trace::CountedAllocations* counted{};  // by stack
    std::uint64_t start_unix_ns{};               // 0: not known
    std::string command{};
};

// google's profile.proto, compressed by gzip: go tool pprof, Perfetto, speedscope, Parca and Grafana read it.
void export_pprof(const StackFigures& figures, TextSink& sink);
// One line for each stack, functions from the outermost on with semicolons between, and the figure: flamegraph.pl,
// speedscope and others read it. Stacks that have none of the figure are left out.
void export_collapsed(const StackFigures& figures, trace::SiteOrder weight, TextSink& sink);

}  // namespace memsweep::reporters
