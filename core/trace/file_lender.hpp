// Opens recording files, and files of counts, on behalf of recorded processes that can no longer open them themselves
// (format/lent_file.hpp). Such processes are, for example, the workers of a server that has become another user.
//
// Sources  SCM_RIGHTS of unix(7), between processes of one network namespace.
// Cost     a thread that waits, and a descriptor; some 50 us for each file.
// Errors   none: if there is no file "starts", or no socket or thread can be made, no file is lent. Then such processes
//          are not recorded.
// Threads  the object has a thread of its own, which blocks all signals.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "core/sys/descriptor.hpp"
#include "core/sys/interprocess.hpp"
#include "core/trace/format/lent_file.hpp"

namespace memsweep::trace {

class FileLender {
  public:
    // Call it after the file "starts" is made (make_starts), and before the program starts.
    explicit FileLender(const std::string& folder);
    ~FileLender() { finish(); }
    FileLender(const FileLender&) = delete;
    FileLender& operator=(const FileLender&) = delete;

    // Stops lending. Call it before the folder is read.
    void finish();

  private:
    [[nodiscard]] bool listen();
    [[nodiscard]] bool show() const;
    void work(const std::stop_token& stop);
    void answer(sys::Channel channel) const;
    // `process`: the process that asks, by its pid in its own PID namespace. A process gets only files of its own.
    [[nodiscard]] sys::UniqueFd open(const FileRequest& request, std::optional<std::uint64_t> process) const;

    std::string folder_;
    sys::UniqueFd socket_;
    Lending lending_;
    std::jthread thread_;
};

// Says whether a file may be lent: only if its name is one that a recorder gives to its files.
[[nodiscard]] bool is_lent(std::string_view name);

}  // namespace memsweep::trace
