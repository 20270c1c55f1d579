// The command line of memsweep-mpi.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/console.hpp"
#include "app/commands/probing.hpp"
#include "app/mpi/link_plan.hpp"
#include "app/mpi/link_test.hpp"
#include "core/model/plan.hpp"
#include "core/model/transfer.hpp"

namespace memsweep::mpi {

enum class Together : std::uint8_t { one, pairs, all };  // how many ranks measure their own memory at the same time

struct MpiOptions {
    app::GlobalOptions global;
    app::ProbeCommand own;  // what each rank measures by itself; nothing if own.what is empty
    Together together{Together::one};
    std::vector<Pattern> patterns;
    std::vector<std::string> scenarios;          // files, or names of shipped scenarios
    std::vector<model::TransferSpec> transfers;  // from the command line; all run at the same time
    std::vector<model::Plan> plans;              // filled in when the scenarios and transfers have been read
    LinkSettings link;
    std::chrono::nanoseconds own_patience{std::chrono::minutes{5}};
    std::string out{"results/mpi-%h-%r.json"};
    std::string gather{"results/mpi-fleet.json"};
    bool resume{};
};

struct ParsedMpi {
    std::optional<MpiOptions> options;  // nullopt: the process shall exit with `code`
    app::ExitCode code{};
};

// Parses the arguments, which are the same on every rank. Only the rank that passes `is_first` as true prints help and
// errors.
[[nodiscard]] ParsedMpi parse_mpi(int argc, const char* const* argv, bool is_first);

}  // namespace memsweep::mpi
