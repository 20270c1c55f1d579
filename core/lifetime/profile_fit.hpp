// Fits the constants of a runtime profile to recordings: what a program allocates beside each array, and what it had
// allocated before the first. The model itself replays each recorded loop; the values that bring its collections
// nearest to the recorded ones are found by trying.
//
// Units    bytes or containers, as the key is.
// Cost     seconds: some 5,000 replays of each recording, microseconds per hundred iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/lifetime/recording.hpp"
#include "core/model/specs.hpp"

namespace memsweep::lifetime {

// A recorded loop as the model sees it.
struct ModelLoop {
    Recording recording;
    model::ReleaseSpec spec;  // the profile's, with the keys of this loop
    std::uint64_t array_bytes{1};
    std::uint64_t own_arrays{};
};

// The model's course of a loop. Arrays that a collection finds are released at once, because the delay of a release
// thread depends on the machine.
struct LoopCourse {
    std::vector<std::uint64_t> collections;  // the iterations that they come in
    std::uint64_t peak{};                    // most unreleased arrays at a time
    std::uint64_t end{};                     // arrays that are unreleased at the end
};
// `most_collections`: the loop is given up after so many.
[[nodiscard]] LoopCourse replay_loop(const model::ReleaseSpec& spec, std::uint64_t iterations,
                                     std::uint64_t array_bytes, std::uint64_t most_collections = 1'000'000);

// One key and the values that give the recorded collections about as well: each within an iteration on average.
struct FittedKey {
    std::string_view key;
    std::uint64_t value{};
    std::uint64_t least{};
    std::uint64_t most{};

    [[nodiscard]] bool is_sure() const;  // no further away than a tenth of the value, or two
};

struct Figure {
    std::uint64_t model{};
    std::uint64_t recorded{};
};

// How near the model comes to a recording.
struct Agreement {
    std::string recording;
    Figure peak;
    Figure end;
    Figure collections;
    std::optional<Figure> first;  // iteration of the first collection, where both have one
    bool holds{};                 // within the bounds of docs/measurement.md
};

struct ProfileFit {
    std::vector<FittedKey> keys;  // empty: no recording has a collection
    double iterations_off{};      // per recorded collection
};

// Fits the constants that all loops share, and leaves the values in the loops' specs. There is at least one loop.
[[nodiscard]] ProfileFit fit_profile(std::span<ModelLoop> loops);

// Gives a loop the values that were fitted to others.
void apply(const ProfileFit& fit, model::ReleaseSpec& spec);

[[nodiscard]] Agreement agreement(const ModelLoop& loop);

}  // namespace memsweep::lifetime
