#include "core/sys/spool.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_stream.hpp"

namespace memsweep::sys {

base::Expected<UniqueFd> spooled(int pipe, const std::string& name, const SpoolLimits& limits,
                                 const std::function<bool(std::string_view piece)>& goes_on)
{
    std::FILE* const file = std::tmpfile();  // on disk: it may be larger than memory
    if (file == nullptr) {
        return base::fail(io_error("cannot make a temporary file", errno, name));
    }
    UniqueFd copy{::fcntl(::fileno(file), F_DUPFD_CLOEXEC, 0)};
    std::fclose(file);
    std::array<char, 64 << 10> piece{};
    std::uint64_t copied = 0;
    for (;;) {
        if (limits.silence && !MEMSWEEP_TRY(wait_readable(pipe, limits.silence))) {
            return base::fail(base::ErrorCode::timeout,
                              fmt::format("{} and no end for {}", copied == 0 ? "brought nothing" : "no further byte",
                                          base::format_duration(seconds_of(*limits.silence))),
                              name);
        }
        const ssize_t got = retry_interrupted([&] { return ::read(pipe, piece.data(), piece.size()); });
        if (got < 0) {
            return base::fail(io_error("cannot read", errno, name));
        }
        const std::string_view text{piece.data(), static_cast<std::size_t>(got)};
        copied += text.size();
        if (copied > limits.bytes) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("brings more than {}", base::exact_size(limits.bytes)), name);
        }
        if (const int problem = write_all(copy.get(), text); problem != 0) {
            return base::fail(io_error("cannot write to a temporary file", problem, name));
        }
        if (got == 0 || !goes_on(text)) {
            return copy;
        }
    }
}

}  // namespace memsweep::sys
