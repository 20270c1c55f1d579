// The trace of a recording, which lies in its folder until it is whole (trace_progress.hpp).
//
// Errors   io, naming the path. Chunks written before stay.
// Threads  one at a time.
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

    // The first bytes make the file.
    [[nodiscard]] trace::TakeBytes taker();
    // Call when it is whole, and read it where it lies: with this header it is a trace.
    [[nodiscard]] base::Expected<void> complete(const trace::FileHeader& header);
    // Call when it is whole: with this header it becomes `out`. It also stays in the folder until that is removed.
    [[nodiscard]] base::Expected<void> finish(const trace::FileHeader& header, const std::string& out);

  private:
    base::Expected<void> append(std::string_view bytes);
    base::Expected<void> copy_to(const std::string& out) const;

    std::string path_;
    std::optional<sys::GrowingFile> file_;
};

}  // namespace memsweep::app
