#include <cstdio>
#include <exception>
#include <unistd.h>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/mpi/comm.hpp"
#include "app/mpi/conductor.hpp"
#include "app/mpi/journal.hpp"
#include "app/mpi/mpi_options.hpp"

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
        const mpi::Comm comm{argc, argv};
        const mpi::ParsedMpi parsed = mpi::parse_mpi(argc, argv, comm.rank() == 0);
        const app::ExitCode code = parsed.options ? run(*parsed.options, comm) : parsed.code;
        comm.finish(code != app::ExitCode::case_failed && code != app::ExitCode::bad_input);
        // Not by way of MPI's own exit handlers, which may wait for a rank that is gone.
        std::fflush(nullptr);
        _exit(static_cast<int>(code));
    } catch (const std::exception& error) {
        std::fputs(fmt::format("memsweep-mpi: internal error: {}\n", error.what()).c_str(), stderr);
        _exit(static_cast<int>(app::ExitCode::internal));
    }
}
