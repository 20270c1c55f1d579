// The trace file of a recording. It is written in the recording's folder (trace_progress.hpp).
//
// Errors   io, naming the path. After an error, chunks that were already written stay in the file.
// Threads  any, but only one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/expected.hpp"
#include "core/sys/growing_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::app {

class GrowingTrace {
  public:
    explicit GrowingTrace(std::string path) : path_{std::move(path)} {}

    // Returns a function that appends bytes to the file. Its first call creates the file.
    [[nodiscard]] trace::TakeBytes taker();
    // Call when all chunks are written. Writes the header. With the header, the file is a readable trace; it stays in
    // the recording's folder.
    [[nodiscard]] base::Expected<void> complete(const trace::FileHeader& header);
    // Call when all chunks are written. Writes the header and publishes the trace as `out`. If the file
    // system has hard links, the trace also stays in the folder.
    [[nodiscard]] base::Expected<void> finish(const trace::FileHeader& header, const std::string& out);

  private:
    base::Expected<void> append(std::string_view bytes);
    base::Expected<void> copy_to(const std::string& out) const;

    std::string path_;
    std::optional<sys::GrowingFile> file_;
};

}  // namespace memsweep::app
