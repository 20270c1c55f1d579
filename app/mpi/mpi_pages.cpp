#include "app/mpi/mpi_pages.hpp"

#include <fmt/format.h>

#include "app/completion.hpp"
#include "app/manual_page.hpp"
#include "app/mpi/link_plan.hpp"
#include "core/model/tool_info.hpp"

namespace memsweep::mpi {
namespace {

constexpr const char* description = R"(.PP
It is started by
.BR mpirun (1)
or
.BR srun (1),
one process per host.
Every rank measures its own memory, as
.B memsweep probe
does, one after the other or together; then the links between the ranks are
measured, one test at a time.
The receiver compares all of the last message of every sample with what was
sent.
.PP
Transfers that are named, in scenario files or in words, are measured instead:
ranks that they name take part, the others wait.
.PP
Each rank writes its own result, described in
.BR memsweep\-result (5),
after every step; rank 0 gathers them into a fleet that
.B memsweep report
and
.B memsweep compare
read.
.PP
Nothing waits for ever: a rank that does not answer in time is left out from
there on, and what the others measure by themselves goes on.
)";

constexpr const char* closing = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
wrong data: what arrived is not what was sent
.TP
.B 2
wrong usage, or a result that cannot be gone on with
.TP
.B 3
a rank did not answer; the results of the others are written
.TP
.B 70
a bug in memsweep
.SH EXAMPLES
.TP
.B mpirun \-\-map\-by node memsweep\-mpi \-o results/%h.json
measures every host and every link.
.TP
.B timeout 30m mpirun \-\-enable\-recovery memsweep\-mpi \-o results/%h.json
ends also where MPI itself hangs because a host is lost.
.TP
.B memsweep merge results/*.json \-o fleet.json \-\-expect 128
then names who is missing, and
.B \-\-resume
measures what is lacking.
.TP
.B mpirun memsweep\\-mpi 'rank0:host \\-> rank1:host:pinned@node0'
measures one transfer between two ranks.
.SH SEE ALSO
.BR memsweep (1),
.BR memsweep\\-scenario (5),
.BR mpirun (1),
.BR srun (1),
.BR memsweep\-result (5)
)";

std::string patterns_section()
{
    std::string text = ".SH LINKS\n";
    for (const NamedPattern& pattern : patterns) {
        text += fmt::format(".TP\n.B {}\n{}\n", pattern.name, pattern.meaning);
    }
    return text;
}

}  // namespace

std::string completion_script(const app::CommandFacts& program, const std::string& shell)
{
    return shell == "bash"  ? app::bash_completion(program)
           : shell == "zsh" ? app::zsh_completion(program)
                            : app::fish_completion(program);
}

std::string manual_page(const app::CommandFacts& program, const std::string& date)
{
    return app::manual_page(program,
                            {.summary = "measure the memory of many hosts in step, and the links between them",
                             .called = "mpirun ... memsweep-mpi",
                             .description = description,
                             .closing = patterns_section() + closing},
                            model::this_tool().version, date);
}

}  // namespace memsweep::mpi
