// What every runtime must do, whatever is behind it: invented devices, PoCL on a processor, a GPU.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/device/runtime.hpp"

namespace memsweep::tests {

struct RuntimeCheck {
    std::string name;
    std::function<void(device::Runtime&)> run;
};
[[nodiscard]] const std::vector<RuntimeCheck>& runtime_checks();

// All of them, each on the same runtime, which must hold nothing afterwards.
void check_runtime(device::Runtime& runtime);

}  // namespace memsweep::tests
