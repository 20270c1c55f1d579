// What the loader's tests share: the source tree, a machine that is the same everywhere, short ways to load.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/plan.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::test {

[[nodiscard]] std::string source_path(std::string_view relative);  // of the repository
[[nodiscard]] std::string fixture_path(std::string_view relative);

// 4 processors, 4 KiB pages, 16 GiB, 2 nodes, no device; the environment is ANSWER=42, EMPTY=, BINARY=<not UTF-8>,
// LONG=<70,000 letters>; files are those of the fixtures folder.
[[nodiscard]] scenarios::Surroundings fake_surroundings();

// A scenario of which only the interesting keys are given: `keys` is put behind format, version and name.
[[nodiscard]] std::string scenario_text(std::string_view keys);

[[nodiscard]] scenarios::Loaded load(std::string_view text, const scenarios::Overrides& overrides = {});

// "1:5: message" of each error; the file's name is "t" and left out. Empty when it loads.
[[nodiscard]] std::vector<std::string> errors_of(std::string_view text, const scenarios::Overrides& overrides = {});

// Fails the test, with all errors, when it does not load.
[[nodiscard]] model::Plan plan_of(std::string_view text, const scenarios::Overrides& overrides = {});

[[nodiscard]] std::vector<std::string> json_files(const std::string& directory);  // *.json, *.jsonc, sorted

}  // namespace memsweep::test
