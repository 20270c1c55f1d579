// Opens files in the folder of a recording or of counts for processes that have the recorder and may not do so any more
// (format/lent_file.hpp): a server's workers, after the server has become another user.
//
// Sources  SCM_RIGHTS of unix(7), between processes of one network namespace.
// Cost     a thread that waits, and a descriptor; some 50 us for each file.
// Errors   none: without the file "starts", a socket or a thread nothing is lent, and such processes are not recorded.
// Threads  its own, in which no signal arrives.
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
    // Call it once the file "starts" is made (make_starts), and before the program starts.
    explicit FileLender(const std::string& folder);
    ~FileLender() { finish(); }
    FileLender(const FileLender&) = delete;
    FileLender& operator=(const FileLender&) = delete;

    // Lends nothing more. Call before the folder is read.
    void finish();

  private:
    [[nodiscard]] bool listen();
    [[nodiscard]] bool show() const;
    void work(const std::stop_token& stop);
    void answer(sys::Channel channel) const;
    // `process`: who asks, by its number in its own PID namespace.
    [[nodiscard]] sys::UniqueFd open(const FileRequest& request, std::optional<std::uint64_t> process) const;

    std::string folder_;
    sys::UniqueFd socket_;
    Lending lending_;
    std::jthread thread_;
};

// Whether a recorder has files of that name: no other is lent.
[[nodiscard]] bool is_lent(std::string_view name);

}  // namespace memsweep::trace
