// Looks for the sign that a program's work is done.
//
// Sources  a file, looked for when asked; a line of at most 4,096 bytes in the program's output, which must come
//          through us; SIGUSR1, counted from the first SignWatch of a signal on.
// Errors   os: a file of that name is there, and cannot be removed.
// Threads  hear() may be called by one thread while others ask has_come().
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

// The outputs of a program. Each has lines of its own.
enum class Printed : std::uint8_t { output, error };

class SignWatch {
  public:
    // `cwd`: the folder in which a relative path of the file begins.
    SignWatch(const model::EndOfWork& end, const std::string& cwd);
    SignWatch(const SignWatch&) = delete;
    SignWatch& operator=(const SignWatch&) = delete;

    // Call before the program is started. Removes a file that an earlier run has left, because it is no sign.
    [[nodiscard]] base::Expected<void> prepare() const;
    // Call with what the program has printed.
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
