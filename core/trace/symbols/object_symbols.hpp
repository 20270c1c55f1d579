// Names the addresses of one program or library: by its debugging information or, if it has none, by its symbol table.
// Separate debug files are found by build id below /usr/lib/debug, and by the link in the file (.gnu_debuglink). If the
// caller asks for it, files are also fetched from the servers of DEBUGINFOD_URLS (debuginfod(8)).
//
// Units    addresses as in the file, before the loader moves the file's contents.
// Sources  DWARF 2 to 5, through elfutils' libdw, which is loaded with the first object.
// Cost     opening reads the headers of all compilation units. An address takes some 10 us; the first address in a unit
//          also reads the whole unit.
// Memory   the mapped file, and what libdw keeps for the units that were read.
// Errors   io: the file cannot be read. invalid_input: the file is not the one that was loaded. not_supported: there is
//          no libdw; the message says what to install.
// Threads  one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::trace {

struct NamedPlace {
    std::string function;
    std::string file{};    // empty: not known
    std::uint32_t line{};  // 0: not known
};

enum class DebugFiles : std::uint8_t { of_this_machine, fetched_too };

class ObjectSymbols {
  public:
    // If the file was replaced or is gone, a debug file with the given build id is used instead. The value of `files`
    // in the first call holds for all later calls in the process.
    [[nodiscard]] static base::Expected<ObjectSymbols> open(const std::string& path, std::string_view build_id,
                                                            DebugFiles files);

    // Returns the functions at an address, innermost first: inlined functions, then the function that contains them.
    // Empty: no function is known.
    [[nodiscard]] std::vector<NamedPlace> at(std::uint64_t address);

    ObjectSymbols(ObjectSymbols&&) noexcept;
    ObjectSymbols& operator=(ObjectSymbols&&) noexcept;
    ~ObjectSymbols();

  private:
    class Loaded;
    explicit ObjectSymbols(std::unique_ptr<Loaded> loaded);
    std::unique_ptr<Loaded> loaded_;
};

// Returns the bytes as hexadecimal digits.
[[nodiscard]] std::string hex_of(std::string_view bytes);

}  // namespace memsweep::trace
