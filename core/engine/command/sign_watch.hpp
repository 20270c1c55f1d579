// Looks for the sign by which a program tells that its work is done.
//
// Sources  a file is looked for when asked; a line in what the program prints, which must come through us; SIGUSR1,
//          which is counted from the first SignWatch of a signal on.
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

// What a program prints by, each with lines of its own.
enum class Printed : std::uint8_t { output, error };

class SignWatch {
  public:
    // `cwd`: the folder in which a relative path of the file begins.
    SignWatch(const model::EndOfWork& end, const std::string& cwd);
    SignWatch(const SignWatch&) = delete;
    SignWatch& operator=(const SignWatch&) = delete;

    // Before the program is started: a file that an earlier run has left is no sign, and is removed.
    [[nodiscard]] base::Expected<void> prepare() const;
    // What the program has printed.
    void hear(Printed by, std::string_view bytes);
    [[nodiscard]] bool has_come() const;
    [[nodiscard]] const model::EndOfWork& end() const noexcept { return end_; }

  private:
    void hear_line(std::string& line);

    model::EndOfWork end_;
    std::string path_;
    std::optional<std::regex> wanted_;
    std::array<std::string, 2> lines_;  // by Printed, as far as they have come
    std::atomic<bool> heard_{};
};

}  // namespace memsweep::engine
