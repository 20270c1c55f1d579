// Recognises files of other tools that memsweep cannot read, because they hold totals instead of single events or have
// an unsupported format. The message names the kind of file and what to do instead.
//
// Sources  the first bytes of each format: Valgrind's dhat/dh_main.c and massif/ms_main.c, memray's record_reader,
//          gperftools' heap-profile-table.cc, jemalloc's prof_data.c, callgrind's manual, perf's header.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memsweep::app {

inline constexpr std::size_t foreign_head_bytes = 64;

// Returns a message such as "a profile of Valgrind's DHAT: ..."; empty: the file is not recognised. `head`: the first
// bytes of the file.
[[nodiscard]] std::string foreign_file(std::string_view head);

}  // namespace memsweep::app
