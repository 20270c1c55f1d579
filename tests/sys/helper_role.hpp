// Starts this test executable again as a child of itself. A hidden test case then plays the role that the environment
// names.
#pragma once

#include <string>
#include <utility>

#include "core/sys/child_process.hpp"

namespace memsweep::tests {

inline constexpr int helper_channel_fd = 7;  // a child's end of the channel has this number

// MEMSWEEP_TEST_ROLE=<role> test_sys "[.helper]"; `channel_fd` becomes helper_channel_fd there.
inline sys::SpawnOptions helper(const std::string& role, int channel_fd)
{
    return {.argv = {"/proc/self/exe", "[.helper]", "--out", "/dev/null"},
            .environment = {{"MEMSWEEP_TEST_ROLE", role}},
            .inherit = {{channel_fd, helper_channel_fd}}};
}

inline sys::SpawnOptions shell(const std::string& script)
{
    return {.argv = {"sh", "-c", script}};
}

}  // namespace memsweep::tests
