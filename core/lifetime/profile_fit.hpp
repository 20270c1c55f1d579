// Fits the constants of a runtime profile to recordings: what a program allocates along with each array, and what it
// had allocated before the first array. The fit replays each recorded loop in the model with many values of these
// constants. It chooses the values with which the model's collections come nearest to the recorded ones.
//
// Units    bytes, or Python containers (triggers.hpp), depending on the profile's key.
// Cost     seconds: some 5,000 replays of each recording. Replaying a hundred iterations takes microseconds.
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

// A recorded loop, and the settings under which the model replays it.
struct ModelLoop {
    Recording recording;
    model::ReleaseSpec spec;  // the profile's spec, with the keys of this loop
    std::uint64_t array_bytes{1};
    std::uint64_t own_arrays{};  // as in RecordedLoop
};

// What happens in a loop according to the model. The model releases arrays as soon as a collection finds them, because
// the delay of a release thread depends on the machine.
struct LoopCourse {
    std::vector<std::uint64_t> collections;  // the iterations in which collections come
    std::uint64_t peak{};                    // most unreleased arrays at a time
    std::uint64_t end{};                     // arrays that are unreleased at the end
};
// Replays a loop in the model. The replay ends early after `most_collections` collections.
[[nodiscard]] LoopCourse replay_loop(const model::ReleaseSpec& spec, std::uint64_t iterations,
                                     std::uint64_t array_bytes, std::uint64_t most_collections = 1'000'000);

// The fitted value of one key. The values from `least` to `most` fit about as well: with them, the model's collections
// are at most about one iteration further from the recorded ones than with `value`.
struct FittedKey {
    std::string_view key;
    std::uint64_t value{};
    std::uint64_t least{};
    std::uint64_t most{};

    // Whether `least` and `most` each differ from `value` by at most a tenth of it, or by at most 2.
    [[nodiscard]] bool is_sure() const;
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
    std::optional<Figure> first;  // iteration of the first collection; nullopt: the model or the recording has none
    bool holds{};                 // within the bounds of docs/measurement.md
};

struct ProfileFit {
    std::vector<FittedKey> keys;  // empty: no recording has a collection
    double iterations_off{};      // the average distance between a recorded collection and the model's, in iterations
};

// Fits the constants that all loops share, and sets these constants in the loops' specs. Needs at least one loop.
[[nodiscard]] ProfileFit fit_profile(std::span<ModelLoop> loops);

// Changes a loop's spec: sets the values of `fit`, which were fitted to other loops.
void apply(const ProfileFit& fit, model::ReleaseSpec& spec);

[[nodiscard]] Agreement agreement(const ModelLoop& loop);

}  // namespace memsweep::lifetime
