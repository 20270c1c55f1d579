// Files of other tools that look as if memsweep could read them, and hold no single events: named for what they are,
// with what can be done instead.
//
// Sources  how each begins: Valgrind's dhat/dh_main.c and massif/ms_main.c, memray's record_reader, gperftools'
//          heap-profile-table.cc, jemalloc's prof_data.c, callgrind's manual, perf's header.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memsweep::app {

inline constexpr std::size_t foreign_head_bytes = 64;

// "a profile of Valgrind's DHAT: ..."; empty: nothing that is known. `head`: the first bytes of the file.
[[nodiscard]] std::string foreign_file(std::string_view head);

}  // namespace memsweep::app
