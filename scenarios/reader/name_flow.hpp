// Follows the names of arrays through the steps. A name that is never allocated, already dropped, or dropped by an
// earlier pass of its loop is then an error before anything runs.
//
// Cost     linear in steps x depth of loops: a loop is walked once. Its later passes follow from the names that the
//          first pass needs and leaves behind.
// Errors   into Diagnostics, at the name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/elements.hpp"
#include "scenarios/reader/diagnostics.hpp"

namespace memsweep::scenarios {

struct Arrays {
    std::uint64_t count{};
    model::DType dtype{};
    std::vector<std::uint64_t> shape;
    friend bool operator==(const Arrays&, const Arrays&) = default;
};

class NameFlow {
  public:
    explicit NameFlow(Diagnostics& diagnostics) : diagnostics_{diagnostics} {}

    void bind(const std::string& name, Arrays arrays);
    const Arrays* use(const std::string& name, const Place& place);  // null when there are none, which is reported
    void drop(const std::string& name, const Place& place);

    void enter_loop();
    void leave_loop(bool more_passes);

    // Names that held no arrays when the scope began end with it.
    void enter_scope();
    void leave_scope(const Place& place);

    // A step could not be read, so names may exist that were not seen. Unknown names are no longer reported.
    void lose_track() { complete_ = false; }

  private:
    struct State {
        bool live{};
        Arrays arrays;
        Place dropped_at;
    };
    struct FirstEvent {
        bool needs_arrays{};
        Place place;
    };
    void note(const std::string& name, bool needs_arrays, const Place& place);
    void complain(const Place& place, std::string message);

    Diagnostics& diagnostics_;
    std::map<std::string, State, std::less<>> names_;
    std::vector<std::map<std::string, FirstEvent>> loops_;
    std::vector<std::vector<std::string>> outer_names_;  // per scope: those that held arrays when it began
    bool complete_{true};
};

}  // namespace memsweep::scenarios
