// Passes on the text of a writer piece by piece, so that even a long report is never in memory as a whole.
//
// Errors   the sink passes text to a function, its Taker. If the Taker returns false, it is not called again: later
//          text is dropped, and finish() returns false.
// Memory   one piece, some 64 KiB.
// Threads  one.
#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace memsweep::reporters {

class TextSink {
  public:
    using Taker = std::function<bool(std::string_view)>;

    explicit TextSink(Taker taker);
    ~TextSink() = default;
    TextSink(const TextSink&) = delete;
    TextSink& operator=(const TextSink&) = delete;

    void add(std::string_view text)
    {
        piece_ += text;
        pass_on_when_full();
    }
    template <typename... Args>
    void print(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(piece_), format, std::forward<Args>(args)...);
        pass_on_when_full();
    }

    // Passes on the last piece. True: the Taker returned true for every piece.
    [[nodiscard]] bool finish();

  private:
    static constexpr std::size_t full_bytes = 64 << 10;
    void pass_on_when_full()
    {
        if (piece_.size() >= full_bytes) {
            pass_on();
        }
    }
    void pass_on();

    Taker taker_;
    std::string piece_;
    bool taken_{true};
};

// Returns the whole text that `write` puts into a sink, for texts that are small or that are to be compared.
[[nodiscard]] std::string whole_text(const std::function<void(TextSink&)>& write);

}  // namespace memsweep::reporters
