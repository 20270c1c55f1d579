// Follows the names of arrays through the steps, to find mistakes before anything runs. A mistake is the use of a name
// that was never allocated, that is already dropped, or that an earlier pass of its loop drops.
//
// Cost     linear in steps x depth of loops. Each loop is walked only one time. The names that the first pass needs,
//          and the names that it leaves, tell which names later passes lack.
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
    // Null: the name holds no arrays, and this was reported.
    const Arrays* use(const std::string& name, const Place& place);
    void drop(const std::string& name, const Place& place);

    void enter_loop();
    void leave_loop(bool more_passes);

    // At its end, a scope drops the names that got their arrays within the scope.
    void enter_scope();
    void leave_scope(const Place& place);

    // Call this after a step that could not be read. Unknown names are no longer reported, because that step may have
    // allocated them.
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
    std::vector<std::vector<std::string>> outer_names_;  // per scope: names that held arrays when it began
    bool complete_{true};
};

}  // namespace memsweep::scenarios
