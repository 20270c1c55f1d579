// Names the addresses of one program or library, by its debugging information, or else its symbol table. Separate debug
// files are found by build id below /usr/lib/debug, and by link. Nothing is fetched from a network unless the caller
// asks for it; then the servers are those of DEBUGINFOD_URLS (debuginfod(8)).
//
// Units    addresses as the file has them, before it is loaded.
// Sources  DWARF 2 to 5, through elfutils' libdw, which is loaded with the first object.
// Cost     opening reads the headers of all compilation units; an address takes some 10 us, the first of a unit
//          reads all of it.
// Memory   the file's, mapped; what libdw keeps of units that were read.
// Errors   io: the file cannot be read; invalid_input: it is another file than the one that was loaded; not_supported:
//          there is no libdw, and the message says what to install.
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
    // If the file was replaced or is gone, a debug file of the build id stands in for it. A process has one kind of
    // `files`: that of the first object.
    [[nodiscard]] static base::Expected<ObjectSymbols> open(const std::string& path, std::string_view build_id,
                                                            DebugFiles files);

    // The functions at an address, innermost first: those inlined there, then the one around them. Empty: nothing is
    // known.
    [[nodiscard]] std::vector<NamedPlace> at(std::uint64_t address);

    ObjectSymbols(ObjectSymbols&&) noexcept;
    ObjectSymbols& operator=(ObjectSymbols&&) noexcept;
    ~ObjectSymbols();

  private:
    class Loaded;
    explicit ObjectSymbols(std::unique_ptr<Loaded> loaded);
    std::unique_ptr<Loaded> loaded_;
};

// Bytes as hexadecimal digits.
[[nodiscard]] std::string hex_of(std::string_view bytes);

}  // namespace memsweep::trace
