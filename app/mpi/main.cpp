#include <cstdio>
#include <exception>
#include <unistd.h>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/launched.hpp"
#include "app/mpi/comm.hpp"
#include "app/mpi/conductor.hpp"
#include "app/mpi/journal.hpp"
#include "app/mpi/mpi_options.hpp"
#include "core/sys/machine_facts.hpp"

namespace {

using namespace memsweep;

app::ExitCode run(const mpi::MpiOptions& options, const mpi::Comm& comm)
{
    auto journal = mpi::Journal::open(options, comm);
    if (!journal) {
        app::print_error(journal.error());
        return app::ExitCode::bad_input;
    }
    return comm.rank() == 0 ? mpi::conduct(options, comm, *journal) : mpi::follow(options, comm, *journal);
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        // MPI is started for what it is needed for: --help and wrong arguments are answered without it.
        const bool is_first = app::this_placement(sys::machine_facts().host).rank.value_or(0) == 0;
        const mpi::ParsedMpi parsed = mpi::parse_mpi(argc, argv, is_first);
        if (!parsed.options) {
            return static_cast<int>(parsed.code);
        }
        const mpi::Comm comm{argc, argv};
        const app::ExitCode code = run(*parsed.options, comm);
        comm.finish(code != app::ExitCode::case_failed && code != app::ExitCode::bad_input);
        // Not by way of MPI's own exit handlers, which may wait for a rank that is gone.
        std::fflush(nullptr);
        _exit(static_cast<int>(code));
    } catch (const std::exception& error) {
        std::fputs(fmt::format("memsweep-mpi: internal error: {}\n", error.what()).c_str(), stderr);
        _exit(static_cast<int>(app::ExitCode::internal));
    }
}
