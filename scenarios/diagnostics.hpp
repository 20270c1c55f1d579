// Collects everything that is wrong with a scenario, so that one load tells it all.
//
// Cost     keeps at most max_errors_kept. Whoever walks a long list stops when it is full(): messages with suggestions
//          are not free, and a broken file may hold 200,000 errors.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "scenarios/place.hpp"

namespace memsweep::scenarios {

class Diagnostics {
  public:
    void add(const Place& place, std::string message);

    // Steps are typed once per case: a place that an earlier case complained about stays silent from here on.
    void begin_case();

    [[nodiscard]] std::size_t count() const { return found_.size(); }
    [[nodiscard]] bool full() const;

    // In the order of the files; at most max_errors_shown, then one that counts the others.
    [[nodiscard]] std::vector<base::Error> sorted() const;

  private:
    std::set<std::pair<Place, std::string>> found_;
    std::set<Place> settled_;
    std::set<Place> new_places_;
};

}  // namespace memsweep::scenarios
