// elfutils' libdw, loaded when it is first needed: most commands do not need it, and it loads five more libraries.
//
// Sources  elfutils 0.188, libdwfl.h and libdw.h.
// Ownership  the library stays loaded until the process ends.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "core/base/expected.hpp"

namespace memsweep::trace {

#define MEMSWEEP_LIBDW_FUNCTIONS(X)                                                                                    \
    X(dwfl_begin)                                                                                                      \
    X(dwfl_end)                                                                                                        \
    X(dwfl_report_elf)                                                                                                 \
    X(dwfl_report_end)                                                                                                 \
    X(dwfl_standard_find_debuginfo)                                                                                    \
    X(dwfl_module_getelf)                                                                                              \
    X(dwfl_module_getdwarf)                                                                                            \
    X(dwfl_module_build_id)                                                                                            \
    X(dwfl_module_nextcu)                                                                                              \
    X(dwfl_module_getsymtab)                                                                                           \
    X(dwfl_module_getsym_info)                                                                                         \
    X(dwarf_ranges)                                                                                                    \
    X(dwarf_haspc)                                                                                                     \
    X(dwarf_child)                                                                                                     \
    X(dwarf_siblingof)                                                                                                 \
    X(dwarf_tag)                                                                                                       \
    X(dwarf_diename)                                                                                                   \
    X(dwarf_dieoffset)                                                                                                 \
    X(dwarf_formref_die)                                                                                               \
    X(dwarf_attr)                                                                                                      \
    X(dwarf_attr_integrate)                                                                                            \
    X(dwarf_formstring)                                                                                                \
    X(dwarf_formudata)                                                                                                 \
    X(dwarf_getsrc_die)                                                                                                \
    X(dwarf_linesrc)                                                                                                   \
    X(dwarf_lineno)                                                                                                    \
    X(dwarf_getsrcfiles)                                                                                               \
    X(dwarf_filesrc)

struct Libdw {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it is a name
#define MEMSWEEP_LIBDW_MEMBER(function) decltype(&::function) function{};
    MEMSWEEP_LIBDW_FUNCTIONS(MEMSWEEP_LIBDW_MEMBER)
#undef MEMSWEEP_LIBDW_MEMBER
};

// Errors: not_supported if libdw is too old or missing; if it is missing, the message says what to install.
// `may_fetch`: whether libdw may fetch missing files from the servers of DEBUGINFOD_URLS. If false, this variable is
// removed from the environment, and nothing is fetched.
[[nodiscard]] base::Expected<Libdw> load_libdw(bool may_fetch);

}  // namespace memsweep::trace
