// Names the addresses of a trace's call stacks. Names come from the trace itself or from the files of the loaded
// programs and libraries. For code of a just-in-time compiler, they come from the map that the compiler leaves in
// /tmp/perf-PROCESS.map. An address without a name is shown as its file and offset.
//
// Cost     some 10 us (object_symbols.hpp) when an address is first looked up.
// Memory   some 150 bytes an address, each text once, and what libdw keeps.
// Errors   none: notes() says why names are missing.
// Threads  one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "core/trace/stack_table.hpp"
#include "core/trace/symbols/object_symbols.hpp"

namespace memsweep::trace {

struct ResolvedFrame {
    std::string_view function{};  // never empty: "libx.so+0x1234" if no name is known
    std::string_view file{};      // empty: not known
    std::uint32_t line{};         // 0: not known
    std::string_view module{};    // the path of its module; empty: not known
    bool is_named{};
    bool is_interpreted{};  // a line that an interpreter ran; it replaces the frame of the interpreter's loop
    friend bool operator==(const ResolvedFrame&, const ResolvedFrame&) = default;
};

class Symbolizer {
  public:
    // `first_uses`: from first_uses_of(), the ticks at which each node was first used. It is needed if several modules
    // were loaded at the same address; otherwise it may be empty. `since`: a time in seconds since 1970; a perf map
    // that was written before this time belongs to another process.
    explicit Symbolizer(const StackTable& table, std::vector<std::uint64_t> first_uses = {}, std::int64_t since = 0,
                        DebugFiles files = DebugFiles::of_this_machine)
        : table_{&table}, first_uses_{std::move(first_uses)}, since_{since}, files_{files}
    {
    }

    // Returns the frames at the node's own address, innermost first, without the node's callers. There is at least one
    // frame.
    [[nodiscard]] std::span<const ResolvedFrame> at(std::uint32_t node);

    // Returns the reasons why names are missing, without repetitions: "/usr/bin/x: was replaced since ...".
    [[nodiscard]] const std::set<std::string>& notes() const noexcept { return notes_; }

  private:
    struct MapEntry {
        std::uint64_t begin{};
        std::uint64_t end{};
        std::string_view name{};
    };
    using Key = std::tuple<StackImage, std::uint64_t, const LoadedModule*>;

    [[nodiscard]] const LoadedModule* module_of(std::uint32_t node) const;
    std::vector<ResolvedFrame> resolve(const Key& key);
    std::vector<ResolvedFrame> named_by_trace(const NamedAddress& names, std::uint64_t address);
    std::vector<ResolvedFrame> named_by_object(const LoadedModule& module, std::uint64_t address);
    std::optional<ResolvedFrame> named_by_map(const StackImage& image, std::uint64_t address);
    const std::vector<MapEntry>& map_of(std::uint32_t process);
    ObjectSymbols* symbols_of(const LoadedModule& module);
    std::string_view kept(std::string_view text);

    const StackTable* table_;
    std::vector<std::uint64_t> first_uses_;
    std::int64_t since_;
    DebugFiles files_;
    std::map<Key, std::vector<ResolvedFrame>> known_;
    std::map<std::pair<std::string_view, std::string_view>, std::optional<ObjectSymbols>> objects_;  // path, build id
    std::map<std::uint32_t, std::vector<MapEntry>> maps_;
    std::deque<std::string> texts_;
    std::unordered_set<std::string_view> index_;
    std::set<std::string> notes_;
};

// Returns the last part of a path.
[[nodiscard]] std::string_view file_name(std::string_view path);

}  // namespace memsweep::trace
