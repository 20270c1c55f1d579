// Detects the sign that a program's work is done.
//
// Sources  one of three signs. A file: has_come() checks whether it exists. A line of at most 4,096 bytes in the
//          program's output: the output must be passed to hear(). SIGUSR1, sent to this process: each new SignWatch
//          for this signal forgets the signals that came before.
// Errors   os: a file of the sign's name exists and cannot be removed.
// Threads  one thread may call hear() while others call has_come().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/end_of_work.hpp"

namespace memsweep::engine {

// The output streams of a program: stdout and stderr. Each of the two is split into lines separately.
enum class Printed : std::uint8_t { output, error };

class SignWatch {
  public:
    // `cwd`: the folder that a relative path of the file starts from.
    SignWatch(const model::EndOfWork& end, const std::string& cwd);
    SignWatch(const SignWatch&) = delete;
    SignWatch& operator=(const SignWatch&) = delete;

    // Call before the program is started. Removes the sign file of an earlier run.
    [[nodiscard]] base::Expected<void> prepare() const;
    // Call with each piece of the program's output, and the stream that it was printed to.
    void hear(Printed by, std::string_view bytes);
    [[nodiscard]] bool has_come() const;
    [[nodiscard]] const model::EndOfWork& end() const noexcept { return end_; }

  private:
    void hear_line(std::string& line);

    model::EndOfWork end_;
    std::string path_;
    std::optional<std::regex> wanted_;
    std::array<std::string, 2> lines_;  // the unfinished line of each output, by Printed
    std::atomic<bool> heard_{};
};

}  // namespace memsweep::engine
