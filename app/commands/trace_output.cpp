#include "app/commands/trace_output.hpp"

#include <cerrno>

#include <fcntl.h>

namespace memsweep::app {

base::Expected<TraceOutput> TraceOutput::open(const std::string& path)
{
    auto target = sys::find_output_target(path);
    if (!target) {
        return base::fail(target.error());
    }
    TraceOutput output{path, *std::move(target)};
    if (output.target_.replaceable()) {
        auto file = sys::TempFile::create_in(output.target_.directory());
        if (!file) {
            return base::fail(sys::io_error("cannot write", errno, path));
        }
        output.file_.emplace(*std::move(file));
        if (output.target_.existing) {
            static_cast<void>(output.file_->take_mode_of(*output.target_.existing));
        }
        return output;
    }
    output.stream_.reset(output.target_.descriptor ? ::fcntl(*output.target_.descriptor, F_DUPFD_CLOEXEC, 0)
                                                   : ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!output.stream_.valid()) {
        return base::fail(sys::io_error("cannot write", errno, path));
    }
    return output;
}

trace::TakeBytes TraceOutput::taker()
{
    return [this](std::string_view bytes) -> base::Expected<void> {
        const int problem = file_ ? file_->write(bytes) : sys::write_all(stream_.get(), bytes);
        return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path_));
    };
}

base::Expected<void> TraceOutput::commit()
{
    const int problem = file_ ? file_->commit_as(target_.path) : 0;
    return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path_));
}

}  // namespace memsweep::app
