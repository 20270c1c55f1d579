// Writes call stacks, and how much memory each stack allocated, in the formats of other tools' viewers.
//
// Units    bytes, counts.
// Cost     some 100 ns for each frame of each stack.
// Memory   export_pprof() holds the whole profile, export_collapsed() the tree of functions.
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
    const trace::CountedAllocations* counted{};  // bytes and blocks of each stack
    std::uint64_t start_unix_ns{};               // 0: not known
    std::string command{};
};

// Writes Google's profile.proto, compressed by gzip. go tool pprof, Perfetto, speedscope, Parca and Grafana read it.
void export_pprof(const StackFigures& figures, TextSink& sink);
// Writes one line for each stack: its functions from the outermost on, separated by semicolons, then the number that
// `weight` selects (such as the bytes live at the peak): "main;parse;read_row 4096". flamegraph.pl, speedscope and
// others read these lines. Stacks for which the number is 0 are left out.
void export_collapsed(const StackFigures& figures, trace::SiteOrder weight, TextSink& sink);

}  // namespace memsweep::reporters
