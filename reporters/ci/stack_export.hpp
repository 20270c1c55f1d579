// Writes call stacks with their memory figures in the formats of other tools' viewers.
//
// Units    bytes, counts.
// Cost     some 100 ns for each frame of each stack.
// Memory   export_pprof(): the profile; export_collapsed(): the tree of functions.
// Errors   none. Texts are repaired to UTF-8. A stack of more than 2,000 frames loses its outermost frames.
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
    const trace::CountedAllocations* counted{};  // sums by stack
    std::uint64_t start_unix_ns{};               // 0: not known
    std::string command{};
};

// google's profile.proto, compressed by gzip, as read by go tool pprof, Perfetto, speedscope, Parca and Grafana.
void export_pprof(const StackFigures& figures, TextSink& sink);
// One line for each stack: its functions from the outermost on, separated by semicolons, then the figure that `weight`
// names. flamegraph.pl, speedscope and others read it. Stacks without that figure are left out.
void export_collapsed(const StackFigures& figures, trace::SiteOrder weight, TextSink& sink);

}  // namespace memsweep::reporters
