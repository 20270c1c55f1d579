// Loads a scenario file into a Plan: expands the cases, converts them to the types of the model, and checks them. A
// file that was accepted cannot fail later because of its contents.
//
// Units    the plan's. In the file, sizes and durations are written with their units.
// Sources  the file, the settings it includes, the command line (Overrides) and the machine (Surroundings).
// Cost     linear in cases x steps; at most 100,000 cases and 500,000 steps over all cases (limits.hpp).
// Errors   all of them at once, in the order of the file, with `where` = "file:line:col", or the flag that is wrong. At
//          most 50 are returned, and one more that counts the rest. An unreadable file is one error with code io.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/expected.hpp"
#include "core/model/settings.hpp"
#include "core/model/specs.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::model {
struct Plan;
}

namespace memsweep::scenarios {

// Changes that the command line makes. An absent value leaves the scenario's value as it is.
struct Overrides {
    std::vector<std::pair<std::string, std::string>> axes;       // -a NAME=[...]: see axes.hpp
    std::vector<std::pair<std::string, std::string>> variables;  // --set NAME=VALUE: a JSON scalar, else text
    std::optional<std::uint32_t> repetitions;
    std::optional<std::uint32_t> warmup;
    std::optional<std::uint64_t> seed;
    std::optional<model::Isolation> isolation;
    std::optional<std::chrono::nanoseconds> timeout;
    std::optional<model::Detection> detect;
    bool guard_pages{};         // true: turns them on
    bool ignore_manual_free{};  // true: turns it on
};

using Loaded = tl::expected<model::Plan, std::vector<base::Error>>;

// Loads a scenario file. Path "-" is the standard input. Messages call the input "<stdin>", and its includes are
// relative to the working directory.
[[nodiscard]] Loaded load(const std::string& path, const Overrides& overrides, const Surroundings& surroundings);

// As load(), for text that was read already; `name` stands for the path.
[[nodiscard]] Loaded load_text(const std::string& name, std::string_view text, const Overrides& overrides,
                               const Surroundings& surroundings);

// A scenario of a folder, for `memsweep list scenarios`.
struct CatalogEntry {
    std::string path;
    std::string name;  // the file's stem if the file does not load
    std::string description;
    std::size_t cases{};
    std::vector<base::Error> errors;  // empty: the file loads
};

// Loads every *.json and *.jsonc file directly in the folder, in the order of their paths. A file that does not load is
// listed with its errors.
//
// Errors   io: the folder cannot be read.
[[nodiscard]] base::Expected<std::vector<CatalogEntry>> list_catalog(const std::string& directory,
                                                                     const Surroundings& surroundings);

// A runtime profile of a folder, for `memsweep list profiles`.
struct ProfileEntry {
    std::string path;
    std::string name;    // the file's stem, by which a release's "profile" names it
    std::string family;  // the topmost profile from which it inherits; its own name if it inherits nothing
    std::string mode;    // the release mode, which may be inherited
    std::string description;
    bool verified{};
    std::vector<base::Error> errors;  // empty: the profile can be used
};

// Lists every *.json file directly in surroundings.profile_folder, in the order of their paths. Errors: as
// list_catalog.
[[nodiscard]] base::Expected<std::vector<ProfileEntry>> list_profiles(const Surroundings& surroundings);

}  // namespace memsweep::scenarios
