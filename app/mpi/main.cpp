#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/console.hpp"
#include "app/commands/plans.hpp"
#include "app/commands/this_machine.hpp"
#include "app/mpi/comm.hpp"
#include "app/mpi/conductor.hpp"
#include "app/mpi/journal.hpp"
#include "app/mpi/mpi_options.hpp"
#include "core/sys/machine_facts.hpp"

namespace {

using namespace memsweep;

// Each rank reads the files of its own host; of those that cannot only the first says why.
bool load_scenarios(mpi::MpiOptions& options, const mpi::Comm& comm)
{
    const auto objection = [](const model::Plan& plan) -> std::string {
        return plan.requirements.ranks.count == 0 ? "has no \"ranks\": it is for one process; run it with memsweep run"
                                                  : "";
    };
    app::LoadedPlans loaded = app::load_plans(options.scenarios, {}, app::this_machine(), objection);
    const auto reporting = comm.first_of(!loaded.errors.empty());
    if (reporting == comm.rank()) {
        app::print_places(loaded.errors);
    }
    std::ranges::move(loaded.plans, std::back_inserter(options.plans));
    return !reporting;
}

base::Expected<app::ExitCode> run(const mpi::MpiOptions& options, const mpi::Comm& comm)
{
    mpi::Journal journal = MEMSWEEP_TRY(mpi::Journal::open(options, comm));
    return mpi::conduct(options, comm, journal);
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        // MPI is started for what it is needed for: --help and wrong arguments are answered without it.
        const bool is_first = app::this_placement(sys::machine_facts().host).rank.value_or(0) == 0;
        mpi::ParsedMpi parsed = mpi::parse_mpi(argc, argv, is_first);
        if (!parsed.options) {
            // mpirun ends all at the first that fails: that is the one that has said why.
            return is_first ? static_cast<int>(parsed.code) : 0;
        }
        const mpi::Comm comm{argc, argv};
        if (!load_scenarios(*parsed.options, comm)) {
            comm.finish(true);
            std::fflush(nullptr);
            _exit(static_cast<int>(app::ExitCode::bad_input));
        }
        const app::ExitCode code = app::settled(run(*parsed.options, comm));
        comm.finish(code != app::ExitCode::case_failed && code != app::ExitCode::bad_input);
        // Not by way of MPI's own exit handlers, which may wait for a rank that is gone.
        std::fflush(nullptr);
        _exit(static_cast<int>(code));
    } catch (const std::exception& error) {
        std::fputs(fmt::format("memsweep-mpi: internal error: {}\n", error.what()).c_str(), stderr);
        _exit(static_cast<int>(app::ExitCode::internal));
    }
}
