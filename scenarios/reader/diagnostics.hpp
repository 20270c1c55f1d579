// The mistakes in a file, with their places. All mistakes are collected, so that one load reports everything.
//
// Units      lines and columns from 1; a column is a character (UTF-8 sequence), as editors count.
// Cost       at most max_errors_kept mistakes are kept. Code that walks a long list stops when full() is true: messages
//            that suggest a word take time, and a broken file may have 200,000 errors.
// Ownership  the file's name belongs to the loader and outlives every place in it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::scenarios {

struct Place {
    std::uint32_t file{};  // number of the file in the order of opening; messages are sorted by this number
    std::uint32_t line{};  // 0: the place is not in a file; `name` is then a command-line flag
    std::uint32_t column{};
    std::string_view name;
    friend auto operator<=>(const Place&, const Place&) = default;
};

[[nodiscard]] std::string to_text(const Place& place);  // "file:line:col"

// Resolves a relative path against the folder of the file that `place` is in.
[[nodiscard]] std::string beside(const Place& place, const std::string& path);

class Diagnostics {
  public:
    void add(const Place& place, std::string message);

    // Steps are checked again for each case. After this call, places where earlier cases had mistakes are not reported
    // again.
    void begin_case();

    [[nodiscard]] std::size_t count() const { return found_.size(); }
    [[nodiscard]] bool full() const;

    // Returns the errors in the order of the files: at most max_errors_shown, then one that says how many more there
    // are.
    [[nodiscard]] std::vector<base::Error> sorted() const;

  private:
    std::set<std::pair<Place, std::string>> found_;
    std::set<Place> settled_;
    std::set<Place> new_places_;
};

}  // namespace memsweep::scenarios
