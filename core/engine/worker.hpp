// The process in which cases run: `memsweep worker`, started by the driver and by nobody else.
//
// Protocol  over a seqpacket socket: the driver first sends the Gauges region's descriptor, then one run region's
//           descriptor per repetition; the worker answers each with one byte. Everything else travels in the regions.
//           The socket's end, from either side, ends the worker.
// Threads   an idle thread lives beside the mutator, so that locks and reference counts take the paths they take in
//           any real (multi-threaded) program, not the single-threaded short cuts of the C and C++ libraries.
#pragma once

namespace memsweep::engine {

// Returns the process's exit status: 0 when the driver closed the socket, 70 when the protocol was broken.
[[nodiscard]] int worker_main(int channel_fd);

}  // namespace memsweep::engine
