#include "app/commands/growing_trace.hpp"

#include <cerrno>
#include <cstdint>
#include <vector>

#include "app/commands/traces.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::app {
namespace {

base::Expected<void> outcome(int problem, const std::string& path)
{
    return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path));
}

}  // namespace

trace::TakeBytes GrowingTrace::taker()
{
    return [this](std::string_view bytes) { return append(bytes); };
}

base::Expected<void> GrowingTrace::append(std::string_view bytes)
{
    if (!file_) {
        auto file = sys::GrowingFile::create(path_);
        MEMSWEEP_TRY(outcome(file ? 0 : errno, path_));
        file_.emplace(*std::move(file));
        MEMSWEEP_TRY(trace::put_header(taker(), {}));
    }
    return outcome(file_->append(bytes), path_);
}

base::Expected<void> GrowingTrace::complete(const trace::FileHeader& header)
{
    const auto overwrite = [this](std::string_view bytes) { return outcome(file_->overwrite(bytes), path_); };
    return trace::put_header(overwrite, header);
}

base::Expected<void> GrowingTrace::finish(const trace::FileHeader& header, const std::string& out)
{
    const auto target = MEMSWEEP_TRY(sys::find_output_target(out));
    MEMSWEEP_TRY(complete(header));
    if (target.replaceable()) {
        if (target.existing) {
            static_cast<void>(file_->take_mode_of(*target.existing));
        }
        if (const int problem = file_->appear_as(target.path); problem != EXDEV) {
            return outcome(problem, out);
        }
    }
    return copy_to(out);
}

base::Expected<void> GrowingTrace::copy_to(const std::string& out) const
{
    const trace::ReadAt read = MEMSWEEP_TRY(trace::open_for_reading(path_));
    auto output = MEMSWEEP_TRY(TraceOutput::open(out));
    const trace::TakeBytes take = output.taker();
    std::vector<std::uint8_t> piece(1U << 20U);
    std::uint64_t offset = 0;
    while (const std::size_t got = MEMSWEEP_TRY(read(offset, piece))) {
        MEMSWEEP_TRY(take({reinterpret_cast<const char*>(piece.data()), got}));
        offset += got;
    }
    return output.commit();
}

}  // namespace memsweep::app
