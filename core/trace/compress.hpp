// A trace as its recorder left it, into the same with its chunks compressed and its gaps closed.
//
// Memory   one chunk.
// Errors   as TraceFile and the taker of the bytes; damaged chunks are left out and counted in the result.
#pragma once

#include "core/trace/trace_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

// An unsealed chunk becomes a sealed one that ends with its last whole event. `facts` are added to those of the file.
[[nodiscard]] base::Expected<Damage> compress(TraceFile& file, const TakeBytes& take, const Facts& facts);

}  // namespace memsweep::trace
